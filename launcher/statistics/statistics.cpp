// SPDX-License-Identifier: BSD-3-Clause
// From the counters on the ranks' states to tables with a line for each rank.
#include "launcher/statistics/statistics.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "launcher/base/table.hpp"
#include "runtime/base/clock.hpp"

namespace tutti::launcher {
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

}   // namespace tutti::launcher
