// SPDX-License-Identifier: BSD-3-Clause
// From the ranks' call statistics to tables of the whole job: one of collectives, one of calls about windows.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <vector>

#include "launcher/base/table.hpp"
#include "launcher/diagnosis/blocked_ranks.hpp"
#include "launcher/statistics/statistics.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

constexpr char collectives_meaning[] =
    R"(communicator, ranks: its name (MPI_Comm_set_name) and size; those of one name and size share a line. calls and
bytes are of the rank with the most; of a reduction the whole vector, else what the rank itself gave or got.
mean, most: the time that a rank spent in these calls, waiting included, on average and at most. longest: one call's.
share: of the time that all ranks together spent between MPI_Init and MPI_Finalize.
)";

constexpr char windows_meaning[] =
    R"(window, ranks: its name (MPI_Win_set_name) and size; those of one name and size share a line. way: how the
target's memory was reached: by load and store, by the kernel (CMA), by messages to who has it. calls and bytes are of
the rank with the most. mean, most: the time that a rank spent in these calls, waiting included, on average and at most.
longest: one call's. share: of the time that all ranks together spent between MPI_Init and MPI_Finalize.
)";

struct Key {
    std::string communicator;
    int ranks;
    std::string collective, algorithm;
    auto operator<=>(Key const&) const = default;
};

/// What all ranks together have done.
struct Sum {
    std::uint64_t ranks = 0, calls = 0, bytes = 0, time = 0, most = 0, longest = 0;   ///< calls, bytes: of one rank

    void add(CallStatisticsRow const& line) {
        ++ranks;
        calls = std::max(calls, line.calls.read());
        bytes = std::max(bytes, line.bytes.read());
        time += line.time.read();
        most = std::max(most, line.time.read());
        longest = std::max(longest, line.longest.read());
    }
};

/// Of all windows, or of all communicators.
std::map<Key, Sum> add_up(AllRankCounts const& counts, bool of_windows) {
    std::map<Key, Sum> sums;
    for (RankCounts const& counts : counts) {
        CallStatistics const& call_statistics = *counts.call_statistics;
        for (CallStatisticsRow const& line : call_statistics.lines()) {
            if ((line.of_window != 0) != of_windows) continue;
            std::string const name = line.communicator[0] ? text_in(line.communicator) : "(unnamed)";
            sums[{name, line.ranks, text_in(line.collective), text_in(line.algorithm)}].add(line);
        }
        if (!of_windows && call_statistics.others().calls.read() != 0)
            sums[{"(others)", 0, "", ""}].add(call_statistics.others());
    }
    return sums;
}

std::string per_cent(std::uint64_t part, std::uint64_t whole) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%",
                  whole == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(whole));
    return text;
}

/// A line for each sum, the longest time first; `first` are the titles of what tells them apart.
std::string by_time(std::map<Key, Sum> const& sums, std::vector<std::string> first, AllRankCounts const& counts,
                    std::uint64_t now) {
    std::uint64_t all_time = 0;
    for (RankCounts const& counts : counts) all_time += run_time(counts.rank_state->times, now);
    std::vector<std::pair<Key, Sum>> rows(sums.begin(), sums.end());
    std::ranges::stable_sort(rows, std::greater{}, [](auto const& row) { return row.second.time; });
    for (char const* title : {"ranks", "calls", "bytes", "mean", "most", "longest", "share"}) first.push_back(title);
    Table table(first, 3);
    for (auto const& [key, sum] : rows)
        table.add({key.communicator, key.collective, key.algorithm, key.ranks == 0 ? "" : std::to_string(key.ranks),
                   std::to_string(sum.calls), size_words(sum.bytes), time_words(sum.time / sum.ranks),
                   time_words(sum.most), time_words(sum.longest), per_cent(sum.time, all_time)});
    return table.text();
}

}   // namespace

std::string collectives_table(AllRankCounts const& counts, std::uint64_t now) {
    std::map<Key, Sum> const sums = add_up(counts, false);
    if (sums.empty()) return "No rank called a collective.\n";
    std::string text = "Time in collectives:\n" +
                       by_time(sums, {"communicator", "collective", "algorithm"}, counts, now) + collectives_meaning;
    if (sums.contains({"(others)", 0, "", ""}))
        text += join("(others): what a rank did after all ", CallStatistics::room,
                     " lines of its call statistics were in use.\n");
    return text;
}

std::string windows_table(AllRankCounts const& counts, std::uint64_t now) {
    std::map<Key, Sum> const sums = add_up(counts, true);
    if (sums.empty()) return "";
    return "Time in calls about windows:\n" + by_time(sums, {"window", "operation", "way"}, counts, now) +
           windows_meaning;
}

}   // namespace tutti::launcher
