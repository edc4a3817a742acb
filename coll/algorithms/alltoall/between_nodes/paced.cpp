// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v, w) on several nodes, every rank for itself: parts within a node go through its shared memory, those for
// other nodes as messages, a few of them under way at a time. In step i the rank at place x, node after node, sends to
// place x + i and receives from x − i, so that at any time the ranks of a node send to different ranks of few nodes and
// no link gets more than its share. p − 1 steps; of parts of n bytes each link carries those that must cross it, once.
// The rotated order: KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C; between nodes ours.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/linear.hpp"
#include "coll/blocks/nodes/net_flow.hpp"
#include "coll/blocks/nodes/node_parts.hpp"

namespace tutti::coll::algorithms::alltoall {
namespace {

/// Whom this rank sends to and whom it receives from in each step; −1: nobody of another node. In place two ranks
/// exchange with each other, in step i those whose places add up to i: a part leaves before its place is filled.
struct Step {
    int to = -1, from = -1;
};
PooledVector<Step> steps_of(FramePool& frames, Division const& map, int rank, bool in_place) {
    PooledVector<int> order(frames);
    for (int n = 0; n < map.count(); ++n) order.insert(order.end(), map.members(n).begin(), map.members(n).end());
    std::size_t const size = order.size();
    auto const place = static_cast<std::size_t>(std::ranges::find(order, rank) - order.begin());
    auto const remote = [&](std::size_t at) {
        int const peer = order[at % size];
        return map.of(peer) == map.mine() ? -1 : peer;
    };
    PooledVector<Step> steps(frames);
    for (std::size_t i = 0; i < size; ++i) {
        if (in_place) steps.push_back({remote(i + size - place), remote(i + size - place)});
        else steps.push_back({remote(place + i), remote(place + size - i)});
    }
    return steps;
}

Task paced(NetEnv& env, AlltoallArgs const& a) {
    PooledVector<Step> const steps = steps_of(env.frames(), env.map(), env.rank(), a.is_in_place);
    std::size_t const window = std::max<std::size_t>(1, a.parameters[0]), size = steps.size();
    NetFlow flow(env);
    auto const begin = [&](Step const& s) {
        if (s.to >= 0) flow.send({outgoing(a, s.to), 0, outgoing(a, s.to).bytes()}, s.to, a.is_in_place);
        if (s.from >= 0) flow.expect({a.receive[s.from], 0, a.receive[s.from].bytes()}, s.from);
    };
    std::size_t begun = 0;
    while (begun < std::min(window, size)) begin(steps[begun++]);
    std::exception_ptr error;
    co_await alltoall_within_node(env, a, error);
    for (Step const& s : steps) {
        if (s.from >= 0) co_await flow.arrive();
        if (s.to >= 0) co_await flow.sent_one();
        if (begun < size) begin(steps[begun++]);
    }
    if (error) std::rethrow_exception(error);
    flow.check();
}

std::uint64_t paced_operations(AlltoallArgs const&, Division const&) { return 1; }

}   // namespace

constexpr Parameter paced_parameters[] = {{"window", 4, "steps under way at a time", ParameterKind::number}};
extern constinit const Algorithm<AlltoallArgs> paced_algorithm = {
    "paced",
    "every rank for itself, in an order that spreads over the nodes, a few messages at a time",
    Family::tutti,
    "after KNEM-Coll, section V.C",
    requires_nothing,
    paced_parameters,
    TUTTI_RUNS_ON_NODES(paced)};

}   // namespace tutti::coll::algorithms::alltoall
