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

/// Prints one row per sum, by decreasing time; `first` has the titles of the columns that distinguish the rows.
std::string table_by_time(std::map<CallKey, CallTotals> const& sums, std::vector<std::string> first,
                          AllRankCounts const& counts, std::uint64_t now) {
    std::uint64_t all_time = 0;
    for (RankCounts const& counts : counts) all_time += run_time(counts.rank_state->times, now);
    std::vector<std::pair<CallKey, CallTotals>> rows(sums.begin(), sums.end());
    std::ranges::stable_sort(rows, std::greater{}, [](auto const& row) { return row.second.time; });
    for (char const* title : {"ranks", "calls", "bytes", "mean", "most", "longest", "share"}) first.push_back(title);
    Table table(first, 3);
    for (auto const& [key, sum] : rows)
        table.add({key.communicator, key.collective, key.algorithm, key.ranks == 0 ? "" : std::to_string(key.ranks),
                   std::to_string(sum.calls), format_size(sum.bytes), format_time(sum.time / sum.ranks),
                   format_time(sum.most), format_time(sum.longest), per_cent(sum.time, all_time)});
    return table.text();
}

}   // namespace

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

// The memory table: shares of the pages that the kernel was asked about.

namespace {

constexpr char memory_meaning[] =
    R"(node: the NUMA node to which the rank was bound, or on which it ran. state, rings, heap, arena: percentage of the
sampled resident pages that are on that node; state: the rank's published state and counters; rings: its incoming
messages; heap: memory of the communicators that it created; arena: its large blocks. moves: how often the rank moved
permanently to another node.
)";

std::string share(std::uint64_t on_node, std::uint64_t sampled) {
    if (sampled == 0) return "-";
    return join(on_node * 100 / sampled, " % of ", sampled);
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
            all.inspected[part].add(placed.inspected[part].read());
            all.on_node[part].add(placed.on_node[part].read());
            cells.push_back(share(placed.on_node[part].read(), placed.inspected[part].read()));
        }
        all.moves.add(placed.moves.read());
        cells.push_back(std::to_string(placed.moves.read()));
        table.add(std::move(cells));
    }
    std::string const refusal = refused == 0 ? ""
                                             : join("The system refuses to place memory, or to report its NUMA node: ",
                                                    std::strerror(static_cast<int>(refused)), ".\n");
    if (!any)
        return refusal.empty()
                   ? "Memory: there is only one NUMA node, or placement is not available (see tutti-info).\n"
                   : refusal;
    std::vector<std::string> cells = {"all", ""};
    for (std::size_t part = 0; part < Placed::parts; ++part)
        cells.push_back(share(all.on_node[part].read(), all.inspected[part].read()));
    cells.push_back(std::to_string(all.moves.read()));
    table.add(std::move(cells));
    return "NUMA nodes of the ranks' memory, as reported by the kernel:\n" + table.text() + memory_meaning + refusal;
}

namespace {

enum class Quantity { count, bytes, time };

struct Column {
    char const* title;
    Quantity unit;
    std::uint64_t (*read)(RankState const& rank_state, std::uint64_t now);
};

#define READ(member) [](RankState const& rank_state, std::uint64_t) { return rank_state.member.read(); }
constexpr Column access_path_columns[] = {
    {"arenas", Quantity::bytes, READ(counters.direct)},   {"XPMEM", Quantity::bytes, READ(counters.attached)},
    {"CMA", Quantity::bytes, READ(counters.cma)},         {"staged", Quantity::bytes, READ(counters.staged)},
    {"maps", Quantity::count, READ(counters.maps)},       {"hits", Quantity::count, READ(counters.hits)},
    {"own arena", Quantity::bytes, READ(counters.arena)}, {"at most", Quantity::bytes, READ(counters.arena_highest)}};

constexpr Column traffic_columns[] = {{"loaded", Quantity::bytes, READ(traffic.loaded)},
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

constexpr Column waiting_columns[] = {{"polled", Quantity::time,
                                       [](RankState const& rank_state, std::uint64_t) {
                                           Times const& times = rank_state.times;
                                           return times.waited.read() -
                                                  std::min(times.slept.read(), times.waited.read());
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

constexpr char access_path_meaning[] =
    R"(arenas, XPMEM: bytes in peers' memory that the rank accessed by load and store; reductions access a part of them.
CMA: bytes that the kernel copied for the rank. staged: bytes that the rank copied to the segment for its peers.
maps, hits: how often the rank mapped memory of its peers, and reused a mapping. own arena: bytes of its large blocks
that were not freed before MPI_Finalize; at most: maximum size of the arena. Messages of a few KiB are not counted.
)";

constexpr char traffic_meaning[] =
    R"(loaded, stored: bytes of data of the rank's collectives; a copy counts in both, combining k operands loads k and
stores one, and a message between nodes is loaded by its sender and stored by its receiver.
in cache, in NUMA, in socket, between: number of accesses to a peer's data, by the closest thing that both ranks share:
a cache, a NUMA node, a socket, or none of these; to nodes, sent there: messages to other nodes, and their bytes.
waits: number of waits in collectives and messages that took more than a few polls; waited: their total time.
run time: from MPI_Init to MPI_Finalize.
)";

constexpr char waiting_meaning[] =
    R"(polled, slept: time in which the rank waited by polling and by sleeping; sleeps: how often it slept; wakes: how
often it woke another rank. yields: how often it yielded its core; useless: yields with no other thread of its session
or control group ready on that core; long: yields after which it got the core back only a time slice or more later. lost
slices: how often it lost its core while polling. moves: how often it moved to a core with fewer ranks; shared: time in
which it shared a core with another rank while another core had none. run delay: time in which it was ready to run but
had no core, according to the kernel. If there are more ranks than cores, ranks wait for each other's cores. Otherwise
long yields, lost slices, and a run delay of more than a few percent of the run time mean that other programs used the
same cores.
)";

std::string format_quantity(Quantity unit, std::uint64_t n) {
    return unit == Quantity::bytes ? format_size(n) : unit == Quantity::time ? format_time(n) : std::to_string(n);
}

std::string table_by_rank(AllRankCounts const& counts, std::span<Column const> columns, std::uint64_t now) {
    std::vector<std::string> titles = {"rank"}, all = {"all"};
    for (Column const& c : columns) titles.push_back(c.title);
    std::vector<std::uint64_t> sums(columns.size());
    Table table(titles, 0);
    for (RankCounts const& counts : counts) {
        std::vector<std::string> cells = {std::to_string(counts.rank)};
        for (std::size_t c = 0; c < columns.size(); ++c) {
            std::uint64_t const n = columns[c].read(*counts.rank_state, now);
            sums[c] += n;
            cells.push_back(format_quantity(columns[c].unit, n));
        }
        table.add(std::move(cells));
    }
    for (std::size_t c = 0; c < columns.size(); ++c) all.push_back(format_quantity(columns[c].unit, sums[c]));
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
    for (unsigned local_rank = 0; local_rank < segment.ranks(); ++local_rank)
        counts.push_back({segment.rank_state(local_rank).world_rank, &segment.rank_state(local_rank),
                          &segment.call_statistics(local_rank)});
    return counts;
}

std::string access_path_table(AllRankCounts const& counts) {
    return "Bytes received, by access path:\n" + table_by_rank(counts, access_path_columns, 0) + access_path_meaning;
}

std::string traffic_table(AllRankCounts const& counts, std::uint64_t now) {
    return "Traffic of the collectives, and waiting times:\n" + table_by_rank(counts, traffic_columns, now) +
           traffic_meaning;
}

std::string waiting_table(AllRankCounts const& counts) {
    return "How the ranks waited:\n" + table_by_rank(counts, waiting_columns, 0) + waiting_meaning;
}

std::string statistics(AllRankCounts const& counts) {
    auto const now = static_cast<std::uint64_t>(now_ns());
    std::string const windows = windows_table(counts, now);
    return access_path_table(counts) + "\n" + traffic_table(counts, now) + "\n" + waiting_table(counts) + "\n" +
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
    for (unsigned local_rank = 0; local_rank < segment.ranks(); ++local_rank) {
        RankState const& rank_state = segment.rank_state(local_rank);
        if (rank_state.state.load(std::memory_order_acquire) != RankPhase::finalised) continue;
        std::vector<std::uint64_t> mine;
        for (Counter const& one : rank_state.not_freed.objects) mine.push_back(one.read());
        counts.add({mine, mine});
    }
    return counts;
}

std::string not_freed_message(NotFreedCounts const& counts) {
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
