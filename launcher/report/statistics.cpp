// SPDX-License-Identifier: BSD-3-Clause
// The tables of --stats, from the counters in the ranks' states.
#include "launcher/report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "launcher/base/text.hpp"
#include "launcher/diagnosis/blocked_ranks.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {

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
    char const* field;   ///< in JSON
    Quantity unit;
    std::uint64_t (*read)(RankState const& rank_state, std::uint64_t now);
};

#define READ(member) [](RankState const& rank_state, std::uint64_t) { return rank_state.member.read(); }
constexpr Column access_path_columns[] = {
    {"arenas", "arena_bytes", Quantity::bytes, READ(counters.direct)},
    {"XPMEM", "xpmem_bytes", Quantity::bytes, READ(counters.attached)},
    {"CMA", "cma_bytes", Quantity::bytes, READ(counters.cma)},
    {"staged", "staged_bytes", Quantity::bytes, READ(counters.staged)},
    {"maps", "maps", Quantity::count, READ(counters.maps)},
    {"hits", "map_hits", Quantity::count, READ(counters.hits)},
    {"unmaps", "unmaps", Quantity::count, READ(counters.unmaps)},
    {"own arena", "own_arena_bytes", Quantity::bytes, READ(counters.arena)},
    {"at most", "own_arena_most_bytes", Quantity::bytes, READ(counters.arena_highest)}};

constexpr Column traffic_columns[] = {
    {"loaded", "loaded_bytes", Quantity::bytes, READ(traffic.loaded)},
    {"stored", "stored_bytes", Quantity::bytes, READ(traffic.stored)},
    {"in cache", "accesses_in_cache", Quantity::count, READ(traffic.messages[0])},
    {"in NUMA", "accesses_in_numa_node", Quantity::count, READ(traffic.messages[1])},
    {"in socket", "accesses_in_socket", Quantity::count, READ(traffic.messages[2])},
    {"between", "accesses_between_sockets", Quantity::count, READ(traffic.messages[3])},
    {"to nodes", "messages_to_nodes", Quantity::count, READ(traffic.messages[4])},
    {"sent there", "sent_to_nodes_bytes", Quantity::bytes, READ(traffic.to_nodes)},
    {"waits", "waits", Quantity::count, READ(times.waits)},
    {"waited", "waited_ns", Quantity::time, READ(times.waited)},
    {"run time", "run_time_ns", Quantity::time,
     [](RankState const& rank_state, std::uint64_t now) { return run_time(rank_state.times, now); }}};

constexpr Column waiting_columns[] = {{"polled", "polled_ns", Quantity::time,
                                       [](RankState const& rank_state, std::uint64_t) {
                                           Times const& times = rank_state.times;
                                           return times.waited.read() -
                                                  std::min(times.slept.read(), times.waited.read());
                                       }},
                                      {"slept", "slept_ns", Quantity::time, READ(times.slept)},
                                      {"sleeps", "sleeps", Quantity::count, READ(times.sleeps)},
                                      {"wakes", "wakes", Quantity::count, READ(times.wakes)},
                                      {"yields", "yields", Quantity::count, READ(times.yields)},
                                      {"useless", "useless_yields", Quantity::count, READ(times.useless_yields)},
                                      {"long", "long_yields", Quantity::count, READ(times.long_yields)},
                                      {"lost slices", "lost_slices", Quantity::count, READ(times.lost_slices)},
                                      {"moves", "core_moves", Quantity::count, READ(times.core_moves)},
                                      {"shared", "shared_core_ns", Quantity::time, READ(times.shared_core)},
                                      {"run delay", "run_delay_ns", Quantity::time, READ(times.run_delay)}};

constexpr Column phase_columns[] = {{"before", "inside_before_ns", Quantity::time, READ(traffic.inside_before)},
                                    {"between", "between_nodes_ns", Quantity::time, READ(traffic.between_nodes)},
                                    {"after", "inside_after_ns", Quantity::time, READ(traffic.inside_after)}};
#undef READ

constexpr char access_path_meaning[] =
    R"(arenas, XPMEM: bytes in peers' memory that the rank accessed by load and store; reductions access a part of them.
CMA: bytes that the kernel copied for the rank. staged: bytes that the rank copied to the segment for its peers.
maps, hits, unmaps: how often the rank mapped memory of its peers, reused a mapping, and ended one with an operation.
own arena: bytes of its large blocks that were not freed before MPI_Finalize; at most: maximum size of the arena.
Messages of a few KiB are not counted.
)";

constexpr char traffic_meaning[] =
    R"(loaded, stored: bytes of data of the rank's collectives; a copy counts in both, combining k operands loads k and
stores one, and a message between nodes is loaded by its sender and stored by its receiver.
in cache, in NUMA, in socket, between: number of accesses to a peer's data, by the closest thing that both ranks share:
a cache, a NUMA node, a socket, or none of these; to nodes, sent there: messages to other nodes, and their bytes.
waits: number of waits in collectives and messages that took more than a few polls; waited: their total time.
run time: from MPI_Init to MPI_Finalize.
)";

constexpr char phase_meaning[] =
    R"(before, between, after: time in phases on the rank's node, then among the masters of all nodes, in which only
masters are, then on the node, waits included. share: percentage of a master's time that is between nodes. With
infinitely fast memory inside nodes, its calls would take at least the time between nodes (Amdahl's law; Zhu and others,
EuroPVM/MPI 2009, section 4.4). Calls in segments along one tree have no phases.
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
        if (!is_served(segment.rank_state(local_rank)))
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

namespace {

/// The time of a rank in the phases of hierarchical algorithms.
struct Phases {
    std::uint64_t before = 0, between = 0, after = 0;
};

/// The part that is between nodes, in percent. The sum may overflow in memory that a program has overwritten.
std::string share_between(Phases const& p) {
    double const between = static_cast<double>(p.between),
                 all = static_cast<double>(p.before) + between + static_cast<double>(p.after);
    return join(std::llround(100 * between / all), " %");
}

}   // namespace

std::string phase_table(AllRankCounts const& counts) {
    Table table({"rank", "before", "between", "after", "share"}, 0);
    auto const add = [&table](std::string const& name, Phases const& p) {
        bool const master = p.between > 0;
        table.add({name, format_time(p.before), master ? format_time(p.between) : "-", format_time(p.after),
                   master ? share_between(p) : "-"});
    };
    Phases masters;
    bool any = false;
    for (RankCounts const& one : counts) {
        Traffic const& traffic = one.rank_state->traffic;
        Phases const p{traffic.inside_before.read(), traffic.between_nodes.read(), traffic.inside_after.read()};
        any = any || p.before > 0 || p.between > 0 || p.after > 0;
        if (p.between > 0) masters.before += p.before, masters.between += p.between, masters.after += p.after;
        add(std::to_string(one.rank), p);
    }
    if (!any) return "";
    if (masters.between > 0) add("masters", masters);
    return "Phases of the collectives mpich_hierarchical:\n" + table.text() + phase_meaning;
}

std::string waiting_table(AllRankCounts const& counts) {
    return "How the ranks waited:\n" + table_by_rank(counts, waiting_columns, 0) + waiting_meaning;
}

namespace {

using Json = nlohmann::ordered_json;

/// Returns an object for each rank with the fields of these columns.
Json json_by_rank(AllRankCounts const& counts, std::span<Column const> columns, std::uint64_t now) {
    Json rows = Json::array();
    for (RankCounts const& one : counts) {
        Json& row = rows.emplace_back(Json{{"rank", one.rank}});
        for (Column const& c : columns) row[c.field] = c.read(*one.rank_state, now);
    }
    return rows;
}

/// Returns an object for each rank whose memory has a NUMA node.
Json memory_json(AllRankCounts const& counts) {
    constexpr char const* parts[Placed::parts] = {"state", "rings", "heap", "arena"};
    Json rows = Json::array();
    for (RankCounts const& one : counts) {
        Placed const& placed = one.rank_state->placed;
        if (placed.node.read() == 0) continue;
        Json& row = rows.emplace_back(Json{{"rank", one.rank}, {"node", placed.node.read() - 1}});
        for (std::size_t part = 0; part < Placed::parts; ++part) {
            row[join(parts[part], "_pages")] = placed.inspected[part].read();
            row[join(parts[part], "_pages_on_node")] = placed.on_node[part].read();
        }
        row["moves"] = placed.moves.read();
    }
    return rows;
}

}   // namespace

std::string statistics_json(AllRankCounts const& counts) {
    auto const now = static_cast<std::uint64_t>(now_ns());
    Json const tables = {{"access_paths", json_by_rank(counts, access_path_columns, now)},
                         {"traffic", json_by_rank(counts, traffic_columns, now)},
                         {"phases", json_by_rank(counts, phase_columns, now)},
                         {"waiting", json_by_rank(counts, waiting_columns, now)},
                         {"memory", memory_json(counts)},
                         {"collectives", collectives_json(counts, now)},
                         {"windows", windows_json(counts, now)}};
    std::string text(statistics_head);
    for (auto const& [name, rows] : tables.items()) {
        text += join(text.ends_with(',') ? "" : ",", "\n\"", name, "\": [");
        for (Json const& row : rows)   // one per line
            text += join(&row == &rows.front() ? "\n  " : ",\n  ",
                         row.dump(-1, ' ', false, Json::error_handler_t::replace));
        text += "]";
    }
    return text + "\n}\n";
}

std::string statistics(AllRankCounts const& counts) {
    auto const now = static_cast<std::uint64_t>(now_ns());
    std::string const windows = windows_table(counts, now), phases = phase_table(counts);
    return access_path_table(counts) + "\n" + traffic_table(counts, now) + "\n" +
           (phases.empty() ? "" : phases + "\n") + waiting_table(counts) + "\n" + memory_table(counts) + "\n" +
           collectives_table(counts, now) + (windows.empty() ? "" : "\n" + windows);
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
