// SPDX-License-Identifier: BSD-3-Clause
// The tables of --stats, from the counters in the ranks' states.
#include "launcher/report/statistics.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "launcher/base/text.hpp"
#include "launcher/diagnosis/blocked_ranks.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"

// Tables over the whole job from the ranks' call statistics: one of collectives, one of one-sided calls.

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

/// Sums over all ranks.
struct Sum {
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

/// Prints one row per sum, by decreasing time; `first` has the titles of the columns that distinguish the rows.
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

// The memory table: shares of the pages that the kernel was asked about.

namespace {

constexpr char memory_meaning[] =
    R"(node: the NUMA node to which the rank was bound, or on which it ran. state, rings, heap, arena: how many of the
pages looked at, among those that were there, lie on that node; state: what the rank shows of itself and counts; rings:
what it gets of messages; heap: memory of communicators that it has made; arena: its large blocks. moves: how often it
had gone to another node for good.
)";

std::string share(std::uint64_t there, std::uint64_t seen) {
    if (seen == 0) return "-";
    return join(there * 100 / seen, " % of ", seen);
}

}   // namespace

std::string memory_table(AllRankCounts const& counts) {
    Table table({"rank", "node", "state", "rings", "heap", "arena", "moves"}, 0);
    Placed all;
    bool any = false;
    std::uint64_t refused = 0;
    for (RankCounts const& one : counts) {
        Placed const& placed = one.rank_state->placed;
        refused = std::max(refused, placed.refused.read());
        std::uint64_t const node = placed.node.read();
        any = any || node != 0;
        std::vector<std::string> cells = {std::to_string(one.rank), node == 0 ? "-" : std::to_string(node - 1)};
        for (std::size_t part = 0; part < Placed::parts; ++part) {
            all.seen[part].add(placed.seen[part].read());
            all.there[part].add(placed.there[part].read());
            cells.push_back(share(placed.there[part].read(), placed.seen[part].read()));
        }
        all.moves.add(placed.moves.read());
        cells.push_back(std::to_string(placed.moves.read()));
        table.add(std::move(cells));
    }
    std::string const obstacle =
        refused == 0 ? ""
                     : join("The system does not let memory be placed, or does not tell where it lies: ",
                            std::strerror(static_cast<int>(refused)), ".\n");
    if (!any)
        return obstacle.empty() ? "Memory: there is one NUMA node, or tutti-info tells why none is chosen.\n"
                                : obstacle;
    std::vector<std::string> cells = {"all", ""};
    for (std::size_t part = 0; part < Placed::parts; ++part)
        cells.push_back(share(all.there[part].read(), all.seen[part].read()));
    cells.push_back(std::to_string(all.moves.read()));
    table.add(std::move(cells));
    return "Where the ranks' memory lies, as the kernel sees it:\n" + table.text() + memory_meaning + obstacle;
}

namespace {

enum class Quantity { count, bytes, time };

struct Column {
    char const* title;
    Quantity unit;
    std::uint64_t (*read)(RankState const& rank_state, std::uint64_t now);
};

#define READ(member) [](RankState const& rank_state, std::uint64_t) { return rank_state.member.read(); }
constexpr Column ways[] = {
    {"arenas", Quantity::bytes, READ(counters.direct)},   {"XPMEM", Quantity::bytes, READ(counters.attached)},
    {"CMA", Quantity::bytes, READ(counters.cma)},         {"staged", Quantity::bytes, READ(counters.staged)},
    {"maps", Quantity::count, READ(counters.maps)},       {"hits", Quantity::count, READ(counters.hits)},
    {"own arena", Quantity::bytes, READ(counters.arena)}, {"at most", Quantity::bytes, READ(counters.arena_highest)}};

constexpr Column traffic[] = {{"loaded", Quantity::bytes, READ(traffic.loaded)},
                              {"stored", Quantity::bytes, READ(traffic.stored)},
                              {"in cache", Quantity::count, READ(traffic.messages[0])},
                              {"in NUMA", Quantity::count, READ(traffic.messages[1])},
                              {"in socket", Quantity::count, READ(traffic.messages[2])},
                              {"between", Quantity::count, READ(traffic.messages[3])},
                              {"to nodes", Quantity::count, READ(traffic.messages[4])},
                              {"sent there", Quantity::bytes, READ(traffic.to_nodes)},
                              {"waits", Quantity::count, READ(times.waits)},
                              {"waited", Quantity::time, READ(times.waited)},
                              {"run time", Quantity::time, [](RankState const& rank_state, std::uint64_t now) {
                                   return run_time(rank_state.times, now);
                               }}};

constexpr Column wait_columns[] = {{"polled", Quantity::time,
                                    [](RankState const& rank_state, std::uint64_t) {
                                        Times const& times = rank_state.times;
                                        return times.waited.read() - std::min(times.slept.read(), times.waited.read());
                                    }},
                                   {"slept", Quantity::time, READ(times.slept)},
                                   {"sleeps", Quantity::count, READ(times.sleeps)},
                                   {"wakes", Quantity::count, READ(times.wakes)},
                                   {"yields", Quantity::count, READ(times.yields)},
                                   {"useless", Quantity::count, READ(times.useless_yields)},
                                   {"long", Quantity::count, READ(times.long_yields)},
                                   {"lost slices", Quantity::count, READ(times.lost_slices)},
                                   {"moves", Quantity::count, READ(times.core_moves)},
                                   {"shared", Quantity::time, READ(times.shared_core)},
                                   {"run delay", Quantity::time, READ(times.run_delay)}};
#undef READ

constexpr char ways_meaning[] =
    R"(arenas, XPMEM: bytes that the rank could load and store in its peers' memory; reductions touch a share of them.
CMA: bytes that the kernel copied for it. staged: bytes that it copied into the segment, for peers to copy out.
maps, hits: how often it mapped memory of its peers, and used what it had mapped. own arena: its large blocks that
were not freed before MPI_Finalize; at most: how far the arena ever grew. Messages of a few KiB are not counted.
)";

constexpr char traffic_meaning[] =
    R"(loaded, stored: bytes of its collectives' data; a copy counts in both, combining k operands loads k, stores one,
and a message between nodes is loaded by its sender, stored by its receiver.
in cache, in NUMA, in socket, between: how often it got at a peer's data, by what lies in between: they share a cache,
else a NUMA node, else a socket, else nothing of these; to nodes, sent there: messages to other nodes, and their bytes.
waits: how often it had to wait, in collectives and messages, longer than for a few looks; waited: how long in all.
run time: from MPI_Init to MPI_Finalize.
)";

constexpr char waiting_meaning[] =
    R"(polled, slept: how long the rank waited in either way; sleeps: how often it slept; wakes: how often it woke
another rank. yields: how often it offered its core to other threads; useless: no other thread of its session or
control group was ready to run there; long: it got the core back only after a time slice or more. lost slices: the core
was taken away from it while it polled. moves: it moved to a core with fewer ranks; shared: how long it ran on one core
with another rank while a core had none. run delay: how long it was ready to run and did not, as the kernel counts. Long
yields, lost slices, and a run delay of more than a few per cent of the run time mean that other programs used the same
cores.
)";

std::string words(Quantity unit, std::uint64_t n) {
    return unit == Quantity::bytes ? size_words(n) : unit == Quantity::time ? time_words(n) : std::to_string(n);
}

std::string by_rank(AllRankCounts const& counts, std::span<Column const> columns, std::uint64_t now) {
    std::vector<std::string> titles = {"rank"}, all = {"all"};
    for (Column const& c : columns) titles.push_back(c.title);
    std::vector<std::uint64_t> sums(columns.size());
    Table table(titles, 0);
    for (RankCounts const& counts : counts) {
        std::vector<std::string> cells = {std::to_string(counts.rank)};
        for (std::size_t c = 0; c < columns.size(); ++c) {
            std::uint64_t const n = columns[c].read(*counts.rank_state, now);
            sums[c] += n;
            cells.push_back(words(columns[c].unit, n));
        }
        table.add(std::move(cells));
    }
    for (std::size_t c = 0; c < columns.size(); ++c) all.push_back(words(columns[c].unit, sums[c]));
    table.add(std::move(all));
    return table.text();
}

}   // namespace

std::uint64_t run_time(Times const& times, std::uint64_t now) {
    std::uint64_t const started = times.started.read(), ended = times.ended.read();
    return started == 0 ? 0 : (ended != 0 ? ended : now) - started;
}

AllRankCounts counts_of(Segment const& segment) {
    AllRankCounts counts;
    for (unsigned place = 0; place < segment.ranks(); ++place)
        counts.push_back(
            {segment.rank_state(place).world_rank, &segment.rank_state(place), &segment.call_statistics(place)});
    return counts;
}

std::string ways_table(AllRankCounts const& counts) {
    return "Data that ranks got from each other, by the way it went:\n" + by_rank(counts, ways, 0) + ways_meaning;
}

std::string traffic_table(AllRankCounts const& counts, std::uint64_t now) {
    return "What the ranks' collectives moved, and how long the ranks waited:\n" + by_rank(counts, traffic, now) +
           traffic_meaning;
}

std::string waiting_table(AllRankCounts const& counts) {
    return "How the ranks waited:\n" + by_rank(counts, wait_columns, 0) + waiting_meaning;
}

std::string statistics(AllRankCounts const& counts) {
    auto const now = static_cast<std::uint64_t>(now_ns());
    std::string const windows = windows_table(counts, now);
    return ways_table(counts) + "\n" + traffic_table(counts, now) + "\n" + waiting_table(counts) + "\n" +
           memory_table(counts) + "\n" + collectives_table(counts, now) + (windows.empty() ? "" : "\n" + windows);
}

void NotFreedCounts::add(NotFreedCounts const& others) {
    if (most.empty()) *this = others;
    for (std::size_t kind = 0; kind < std::min(most.size(), others.most.size()); ++kind) {
        most[kind] = std::max(most[kind], others.most[kind]);
        least[kind] = std::min(least[kind], others.least[kind]);
    }
}

NotFreedCounts not_freed_on(Segment const& segment) {
    NotFreedCounts counts;
    for (unsigned place = 0; place < segment.ranks(); ++place) {
        RankState const& rank_state = segment.rank_state(place);
        if (rank_state.state.load(std::memory_order_acquire) != RankPhase::finalised) continue;
        std::vector<std::uint64_t> mine;
        for (Counter const& one : rank_state.not_freed.objects) mine.push_back(one.read());
        counts.add({mine, mine});
    }
    return counts;
}

std::string not_freed_words(NotFreedCounts const& counts) {
    std::string list;
    for (std::size_t kind = 0; kind < std::min<std::size_t>(counts.most.size(), NotFreed::kinds); ++kind) {
        std::uint64_t const number = counts.most[kind];
        if (number == 0) continue;
        list += join(list.empty() ? "" : ", ", number, " ", NotFreed::names[kind], number == 1 ? "" : "s");
    }
    if (list.empty()) return {};
    bool const equal = counts.most == counts.least;
    return join(equal ? "" : "up to ", list, equal ? "" : " per rank", " never freed; --check shows where");
}

}   // namespace tutti::launcher
