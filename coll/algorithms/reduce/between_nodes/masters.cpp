// SPDX-License-Identifier: BSD-3-Clause
// Reduce on several nodes: each node to its master through shared memory, the masters along a tree of messages to the
// root, which is its node's master. N nodes are crossed N − 1 times whatever the root, in 1 (star) to N − 1 (chain)
// steps; large ones in segments, so that along a chain each link carries s bytes in and out, and in fragments, so that
// nodes combine one while another is on the links.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.2.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/reduce_to_root.hpp"
#include "coll/blocks/reduce/laid_out.hpp"
#include "coll/env/on_node.hpp"

namespace tutti::coll::algorithms::reduce {

extern const Algorithm<ReduceArgs> rabenseifner_algorithm;
namespace {

enum Part : std::size_t { between, segment };

/// `team` are the masters; each has its node's sum as its operand.
Task among_masters(NetEnv& team, ReduceArgs const& a) {
    static constexpr TreeShape shapes[] = {star_tree, binomial_tree, binary_tree, chain_tree};
    if (a.parameters[between] >= std::size(shapes)) {
        co_await rabenseifner_algorithm.net(team, a);
        co_return;
    }
    auto const shape = shapes[a.parameters[between]];
    TreePlace place = place_around(team.frames(), shape, a.root, team.rank(), team.size(), a.op->commutative);
    co_await reduce_to_root(team, a, std::move(place), a.root, a.parameters[segment]);
}

Task masters(NetEnv& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    Division const& map = env.map();
    int const master = map.master(map.mine(), a.root);
    LaidOut const sum = env.rank() == master && master != a.root ? LaidOut(*a.type, a.count, &env.frames()) : LaidOut();
    ReduceArgs inside = a;
    inside.root = map.index_of(master);
    if (sum.origin()) inside.out = sum.origin();
    co_await on_node(env, Collective::reduce, inside);
    if (env.rank() != master) co_return;
    NetEnv team(env, map.masters(env.frames(), a.root), env.multi_node().masters);
    ReduceArgs combined = a;
    combined.root = map.of(a.root);
    combined.in = sum.origin();   // at the root in place
    co_await among_masters(team, combined);
}

std::uint64_t masters_operations(ReduceArgs const&, Division const&) { return 1; }

}   // namespace

constexpr Parameter masters_parameters[] = {
    {"between", 1, "how the masters combine: along a tree, or halving vectors", ParameterKind::word,
     "linear|binomial|binary|chain|rabenseifner"},
    {"segment", 65536, "bytes that masters pass on at a time along a tree"},
    fragment_parameter,
};
extern constinit const Algorithm<ReduceArgs> masters_algorithm = {
    "masters",
    "each node to its master, masters along a tree to the root",
    Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.2",
    requires_commutative | requires_grouping,
    masters_parameters,
    TUTTI_RUNS_ON_NODES(masters)};

}   // namespace tutti::coll::algorithms::reduce
