// SPDX-License-Identifier: BSD-3-Clause
// Packs the counters of a rank, and assembles the map of the job. Packed counts hold the counters in the order of
// counters.def, followed by the lines of the call statistics; the last line may be that of all calls without a line of
// their own.
#include "launcher/nodes/node_data.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "launcher/base/pack.hpp"
#include "launcher/diagnosis/blocked_ranks.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

struct Line {
    std::string communicator, collective, algorithm;
    int ranks = 0;
    bool is_window = false;
    std::uint64_t calls = 0, bytes = 0, time = 0, longest = 0;
};

struct PackedCounts {
    int rank = 0;
    std::vector<std::uint64_t> counters;
    std::vector<Line> lines;
};

template <class A>
void members(A& a, Line& l) {
    a(l.communicator, l.collective, l.algorithm, l.ranks, l.is_window, l.calls, l.bytes, l.time, l.longest);
}
template <class A>
void members(A& a, PackedCounts& w) {
    a(w.rank, w.counters, w.lines);
}

/// Visits all counters of a rank state that the tables show. `ended` must be the last one: packed_counts may replace
/// it.
template <class AnyRankState, class Visit>
void for_each_counter(AnyRankState& rank_state, Visit const& visit) {
#define COUNTER(group, kind, name, where, description) visit(rank_state.where);
#include "runtime/state/counters.def"
#undef COUNTER
    auto& placed = rank_state.placed;
    for (auto* one : {&placed.node, &placed.moves, &placed.refused}) visit(*one);
    for (auto& one : placed.inspected) visit(one);
    for (auto& one : placed.on_node) visit(one);
    visit(rank_state.times.started);
    visit(rank_state.times.ended);
}

Line copied(CallStatisticsRow const& from) {
    return {text_in(from.communicator), text_in(from.collective), text_in(from.algorithm), from.ranks,
            from.is_window != 0,        from.calls.read(),        from.bytes.read(),       from.time.read(),
            from.longest.read()};
}

}   // namespace

std::string packed_counts(RankCounts const& counts, std::uint64_t now) {
    PackedCounts all{counts.rank, {}, {}};
    for_each_counter(*counts.rank_state, [&](Counter const& c) { all.counters.push_back(c.read()); });
    bool const never_ended = counts.rank_state->times.started.read() != 0 && counts.rank_state->times.ended.read() == 0;
    if (never_ended) all.counters.back() = now;
    for (CallStatisticsRow const& line : counts.call_statistics->rows()) all.lines.push_back(copied(line));
    if (counts.call_statistics->other_calls().calls.read() != 0)
        all.lines.push_back(copied(counts.call_statistics->other_calls()));
    return packed(all);
}

std::unique_ptr<RemoteRankCounts> unpacked_counts(std::string_view bytes) {
    auto const all = unpacked<PackedCounts>(bytes);
    auto copy = std::make_unique<RemoteRankCounts>();
    copy->rank = all.rank;
    std::size_t next = 0;
    for_each_counter(copy->rank_state, [&](Counter& c) {
        if (next == all.counters.size()) fail(ErrorClass::other, "received incomplete counters of a rank");
        c.set(all.counters[next++]);
    });
    for (Line const& from : all.lines) {
        CallStatisticsRow& to =
            copy->call_statistics.row(from.communicator, from.ranks, from.collective, from.algorithm, from.is_window);
        to.calls.set(from.calls);
        to.bytes.set(from.bytes);
        to.time.set(from.time);
        to.longest.set(from.longest);
    }
    return copy;
}

// Assembling the map of the job.

std::string node_names(Allocation const& allocation, std::vector<int> const& nodes) {
    constexpr std::size_t max_names = 8;
    std::string text = nodes.size() == 1 ? "node " : "nodes ";
    for (std::size_t i = 0; i < std::min(nodes.size(), max_names); ++i)
        text += join(i == 0 ? "" : ", ", allocation.nodes[static_cast<std::size_t>(nodes[i])]);
    return nodes.size() > max_names ? join(text, " and ", nodes.size() - max_names, " more") : text;
}

ClusterInfo make_cluster_info(Allocation const& allocation, int here, StartOrder const& order) {
    std::size_t const count = allocation.nodes.size();
    bool const is_complete =
        order.names.size() == count && order.addresses.size() == count && order.ports.size() == count;
    if (!is_complete || order.key.size() != sizeof(JobKey))
        fail(ErrorClass::other, "the job's map does not match its nodes");
    std::vector<Cluster::Node> nodes;
    std::vector<Cluster::Rank> ranks(allocation.node_of.size());
    for (std::size_t n = 0; n < count; ++n) {
        nodes.push_back({order.names[n], order.addresses[n]});
        std::vector<int> const here_ranks = allocation.ranks_on(static_cast<int>(n));
        if (order.ports[n].size() != here_ranks.size())
            fail(ErrorClass::other, "node ", allocation.nodes[n], " does not listen for all of its ranks");
        for (std::size_t local_rank = 0; local_rank < here_ranks.size(); ++local_rank)
            ranks[static_cast<std::size_t>(here_ranks[local_rank])] = {
                static_cast<int>(n), static_cast<int>(local_rank), order.ports[n][local_rank]};
    }
    JobKey key{};
    std::memcpy(key.data(), order.key.data(), key.size());
    return {Cluster(std::move(nodes), std::move(ranks), here, key), order.tuning, order.job_name, order.offer};
}

}   // namespace tutti::launcher
