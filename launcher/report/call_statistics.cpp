// SPDX-License-Identifier: BSD-3-Clause
// The tables of --stats over the whole job, from the ranks' call statistics: of collectives, and of one-sided calls.
#include "launcher/report/statistics.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <vector>

#include <nlohmann/json.hpp>

#include "launcher/base/text.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

constexpr char collectives_meaning[] =
    R"(communicator, ranks: name (MPI_Comm_set_name) and size; communicators with equal names and sizes share a line.
calls, bytes: maximum over the ranks; for reductions the whole vector, otherwise the data that a rank sent or received.
mean, most: time of a rank in these calls, including waiting, on average and at most. longest: the longest call.
share: fraction of the time of all ranks between MPI_Init and MPI_Finalize.
)";

constexpr char windows_meaning[] =
    R"(window, ranks: name (MPI_Win_set_name) and size; windows with equal names and sizes share a line. path: access to
the target's memory: by load and store, by the kernel (CMA), or by messages to its owner. calls, bytes: maximum over
the ranks. mean, most: time of a rank in these calls, including waiting, on average and at most. longest: the longest
call. share: fraction of the time of all ranks between MPI_Init and MPI_Finalize.
)";

struct CallKey {
    std::string communicator;
    int ranks;
    std::string collective, algorithm;
    auto operator<=>(CallKey const&) const = default;
};

/// Sums over all ranks.
struct CallTotals {
    /// `calls`, `bytes`: maximum over the ranks; `most`: the time of the rank with the most; `longest`: of one call.
    std::uint64_t ranks = 0, calls = 0, bytes = 0, time = 0, most = 0, longest = 0;

    void add(CallStatisticsRow const& line) {
        ++ranks;
        calls = std::max(calls, line.calls.read());
        bytes = std::max(bytes, line.bytes.read());
        time += line.time.read();
        most = std::max(most, line.time.read());
        longest = std::max(longest, line.longest.read());
    }
};

/// Adds up the rows of windows (`of_windows`) or of communicators.
std::map<CallKey, CallTotals> sum_calls(AllRankCounts const& counts, bool of_windows) {
    std::map<CallKey, CallTotals> sums;
    for (RankCounts const& counts : counts) {
        CallStatistics const& call_statistics = *counts.call_statistics;
        for (CallStatisticsRow const& line : call_statistics.rows()) {
            if ((line.is_window != 0) != of_windows) continue;
            std::string const name = line.communicator[0] ? text_in(line.communicator) : "(unnamed)";
            sums[{name, line.ranks, text_in(line.collective), text_in(line.algorithm)}].add(line);
        }
        if (!of_windows && call_statistics.other_calls().calls.read() != 0)
            sums[{"(others)", 0, "", ""}].add(call_statistics.other_calls());
    }
    return sums;
}

std::string per_cent(std::uint64_t part, std::uint64_t whole) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%",
                  whole == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(whole));
    return text;
}

using Rows = std::vector<std::pair<CallKey, CallTotals>>;

/// Returns the sums by decreasing time.
Rows rows_by_time(std::map<CallKey, CallTotals> const& sums) {
    Rows rows(sums.begin(), sums.end());
    std::ranges::stable_sort(rows, std::greater{}, [](auto const& row) { return row.second.time; });
    return rows;
}

/// Returns the time of all ranks between MPI_Init and MPI_Finalize.
std::uint64_t run_time_of_all(AllRankCounts const& counts, std::uint64_t now) {
    std::uint64_t all = 0;
    for (RankCounts const& one : counts) all += run_time(one.rank_state->times, now);
    return all;
}

/// Prints one row per sum, by decreasing time; `first` has the titles of the columns that distinguish the rows.
std::string table_by_time(std::map<CallKey, CallTotals> const& sums, std::vector<std::string> first,
                          AllRankCounts const& counts, std::uint64_t now) {
    std::uint64_t const all_time = run_time_of_all(counts, now);
    for (char const* title : {"ranks", "calls", "bytes", "mean", "most", "longest", "share"}) first.push_back(title);
    Table table(first, 3);
    for (auto const& [key, sum] : rows_by_time(sums))
        table.add({key.communicator, key.collective, key.algorithm, key.ranks == 0 ? "" : std::to_string(key.ranks),
                   std::to_string(sum.calls), format_size(sum.bytes), format_time(sum.time / sum.ranks),
                   format_time(sum.most), format_time(sum.longest), per_cent(sum.time, all_time)});
    return table.text();
}

/// Returns an object for each row of the table; `fields` names the three texts that distinguish the rows.
nlohmann::ordered_json json_by_time(std::map<CallKey, CallTotals> const& sums, std::array<char const*, 3> fields,
                                    AllRankCounts const& counts, std::uint64_t now) {
    auto const all_time = static_cast<double>(std::max<std::uint64_t>(1, run_time_of_all(counts, now)));
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (auto const& [key, sum] : rows_by_time(sums))
        rows.push_back({{fields[0], key.communicator},
                        {fields[1], key.collective},
                        {fields[2], key.algorithm},
                        {"ranks", key.ranks},
                        {"calls", sum.calls},
                        {"bytes", sum.bytes},
                        {"mean_ns", sum.time / sum.ranks},
                        {"most_ns", sum.most},
                        {"longest_ns", sum.longest},
                        {"share", static_cast<double>(sum.time) / all_time}});
    return rows;
}

}   // namespace

nlohmann::ordered_json collectives_json(AllRankCounts const& counts, std::uint64_t now) {
    return json_by_time(sum_calls(counts, false), {"communicator", "collective", "algorithm"}, counts, now);
}

nlohmann::ordered_json windows_json(AllRankCounts const& counts, std::uint64_t now) {
    return json_by_time(sum_calls(counts, true), {"window", "operation", "path"}, counts, now);
}

std::string collectives_table(AllRankCounts const& counts, std::uint64_t now) {
    std::map<CallKey, CallTotals> const sums = sum_calls(counts, false);
    if (sums.empty()) return "No rank called a collective.\n";
    std::string text = "Time in collectives:\n" +
                       table_by_time(sums, {"communicator", "collective", "algorithm"}, counts, now) +
                       collectives_meaning;
    if (sums.contains({"(others)", 0, "", ""}))
        text += join("(others): calls of ranks after all ", CallStatistics::capacity,
                     " lines of their call statistics were in use.\n");
    return text;
}

std::string windows_table(AllRankCounts const& counts, std::uint64_t now) {
    std::map<CallKey, CallTotals> const sums = sum_calls(counts, true);
    if (sums.empty()) return "";
    return "Time in calls of windows:\n" + table_by_time(sums, {"window", "operation", "path"}, counts, now) +
           windows_meaning;
}

}   // namespace tutti::launcher
