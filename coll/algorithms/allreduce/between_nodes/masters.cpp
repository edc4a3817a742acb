// SPDX-License-Identifier: BSD-3-Clause
// Allreduce on several nodes: each node reduces to its master through shared memory, the masters combine among
// themselves, each master hands the result to its node. Between N nodes as many steps and bytes as the masters'
// algorithm has among N ranks; in fragments, so that nodes combine one while another is on the links.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.3; recursive k-ing:
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), section IV.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/recursive_k_ing.hpp"
#include "coll/blocks/messages/reduce_to_root.hpp"
#include "coll/blocks/messages/share_fold.hpp"
#include "coll/env/on_node.hpp"

namespace tutti::coll::algorithms::allreduce {

extern const Algorithm<ReduceArgs> recursive_doubling_algorithm, rabenseifner_algorithm, ring_algorithm;
namespace {

enum Part : std::size_t { between, radix, segment };

/// In segments up a binary tree and down again.
Task along_tree(NetEnv& team, ReduceArgs const& a) {
    Messages<NetEnv> m(team, element_of(a));
    Segments const segments(a.bytes(), element_of(a), a.parameters[segment]);
    TreePlace const place = binary_tree(team.frames(), team.rank(), team.size());
    CombineUp<NetEnv> up(team, m, a, place, segments, place.parent < 0);
    PassDown<NetEnv> down(team, m, result(a), place, segments);
    co_await flow(team, up, &down, segments.count, 2 * static_cast<std::uint64_t>(place.depth));
    co_await m.close();
}

/// `team` are the masters; each has its node's sum in its result.
Task among_masters(NetEnv& team, ReduceArgs const& a) {
    switch (a.parameters[between]) {
    case 0: return recursive_k_ing_allreduce(team, a, static_cast<int>(a.parameters[radix]));
    case 1: return recursive_doubling_algorithm.net(team, a);
    case 2: return allreduce_by_shares(team, a);
    case 3: return rabenseifner_algorithm.net(team, a);
    case 4: return a.op->commutative ? ring_algorithm.net(team, a) : rabenseifner_algorithm.net(team, a);
    default: return along_tree(team, a);
    }
}

Task masters(NetEnv& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    Division const& map = env.map();
    ReduceArgs inside = a;
    inside.root = 0;
    if (map.index_of(env.rank()) > 0) inside.in = operand(a).address, inside.out = nullptr;
    co_await on_node(env, Collective::reduce, inside);
    if (map.index_of(env.rank()) == 0) {
        NetEnv team(env, map.masters(env.frames()), env.multi_node().masters);
        ReduceArgs combined = a;
        combined.in = in_place;
        co_await among_masters(team, combined);
    }
    BcastArgs back{};
    back.data = result(a);
    back.root = 0;
    co_await on_node(env, Collective::bcast, back);
}

std::uint64_t masters_operations(ReduceArgs const&, Division const&) { return 2; }

}   // namespace

constexpr Parameter masters_parameters[] = {
    {"between", 0, "how the masters combine", ParameterKind::word,
     "recursive_k_ing|recursive_doubling|shares|rabenseifner|ring|binary"},
    {"radix", 4, "masters that combine their data in a step of recursive k-ing", ParameterKind::number},
    {"segment", 32768, "bytes that masters pass on at a time along a binary tree"},
    fragment_parameter,
};
extern constinit const Algorithm<ReduceArgs> masters_algorithm = {
    "masters",
    "each node reduces to its master, masters with each other, each master to its node",
    Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.3; Cheetah (CLUSTER 2013), section IV",
    requires_commutative | requires_grouping,
    masters_parameters,
    TUTTI_RUNS_ON_NODES(masters)};

}   // namespace tutti::coll::algorithms::allreduce
