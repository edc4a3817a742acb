// SPDX-License-Identifier: BSD-3-Clause
// Reductions between nodes: allreduce (all_ranks, gathered, masters) and reduce (masters).
//
// allreduce/all_ranks: all ranks of a node communicate with other nodes concurrently. A reduce_scatter on each node, an
// allreduce of each slice among the ranks that hold it, one on each node, and an allgather on each node. There are as
// many slices as the smallest node has ranks; further ranks of larger nodes have none. With a ring of N nodes: 2
// (N − 1) steps over as many connections as there are slices; 2 (N − 1)/N·s bytes leave and enter each node. In
// fragments: some are combined while others are in flight.
// YHCCL (Peng et al., SC 2023), section 5.5, multi-node.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/gathered.hpp"
#include "coll/blocks/halving.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/blocks/nodes.hpp"
#include "coll/blocks/reducer.hpp"
#include "coll/blocks/relay.hpp"
#include "coll/blocks/share_fold.hpp"
#include "coll/blocks/tree_flow.hpp"
#include "coll/env/net_env.hpp"

namespace tutti::coll::algorithms::allreduce {

extern const Algorithm<ReduceArgs> rabenseifner_algorithm, ring_algorithm;
namespace {

/// The number of elements of each rank of a node, and where they begin.
struct Cut {
    Cut(FramePool& frames, std::int64_t elements, int ranks, int sequences) : counts(frames), starts(frames) {
        std::int64_t const each = (elements + sequences - 1) / sequences;
        for (int i = 0; i < ranks; ++i) {
            std::int64_t const first = std::min(elements, each * i), end = std::min(elements, first + each);
            starts.push_back(static_cast<int>(first));
            counts.push_back(i < sequences ? static_cast<int>(end - first) : 0);
        }
    }
    PooledVector<int> counts, starts;
};

Task among_nodes(NetEnv& env, ReduceArgs const& slice, int index) {
    PooledVector<int> holders(env.frames());
    for (int n = 0; n < env.map().count(); ++n)
        holders.push_back(env.map().members(n)[static_cast<std::size_t>(index)]);
    NetEnv team(env, std::move(holders), env.multi_node().masters);
    bool const ring = slice.parameters[0] == 0 && slice.op->commutative;
    if (ring) co_await ring_algorithm.net(team, slice);
    else if (slice.parameters[0] == 1) co_await allreduce_by_shares(team, slice);
    else co_await rabenseifner_algorithm.net(team, slice);
}

Task all_ranks(NetEnv& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    Division const& map = env.map();
    Cut const cut(env.frames(), a.count, map.size(map.mine()), map.smallest());
    int const index = map.index_of(env.rank());
    auto const mine = static_cast<std::size_t>(index);
    LaidOut const memory(*a.type, cut.counts[mine], &env.frames());
    ReduceScatterArgs inside{};
    static_cast<ReduceArgs&>(inside) = a;
    inside.in = operand(a).address;
    inside.out = memory.origin();
    inside.counts = cut.counts;
    co_await on_node(env, Collective::reduce_scatter, inside);
    if (cut.counts[mine] > 0) {
        ReduceArgs slice = a;
        slice.in = in_place;
        slice.out = memory.origin();
        slice.count = cut.counts[mine];
        co_await among_nodes(env, slice, index);
    }
    AllgatherArgs back{};
    back.mine = {memory.origin(), cut.counts[mine], a.type};
    back.parts = Parts::irregular(a.out, cut.counts.data(), cut.starts.data(), *a.type);
    back.largest = static_cast<std::size_t>(cut.counts.front() * a.type->size());
    co_await on_node(env, Collective::allgather, back);
}

std::uint64_t all_ranks_operations(ReduceArgs const&, Division const&) { return 2; }

}   // namespace

constexpr Parameter all_ranks_parameters[] = {
    {"between", 0, "how those who hold a slice combine it", ParameterKind::word, "ring|shares|rabenseifner"},
    fragment_parameter,
};
extern constinit const Algorithm<ReduceArgs> all_ranks_algorithm = {
    "all_ranks",
    "slices reduced inside each node, combined by all ranks at once between nodes, gathered inside",
    Family::yhccl,
    "YHCCL (Peng et al., SC 2023), section 5.5, multi-node",
    requires_commutative | requires_grouping,
    all_ranks_parameters,
    TUTTI_RUNS_ON_NODES(all_ranks)};

// allreduce/gathered: for small messages. Every rank gets all operands and combines them in rank order, so that the
// result has the same bits whatever the placement of ranks (coll/blocks/gathered.hpp). One step between nodes; with p
// ranks and operands of s bytes, p·s bytes enter each node.

namespace {

Task gathered(NetEnv& env, ReduceArgs const& a) {
    if (a.bytes() > 0) co_await fold_gathered(env, a, env.size(), a.parameters[0]);
}

std::uint64_t gathered_operations(ReduceArgs const& a, Division const& map) {
    return gather_operations(a, map, a.parameters[0]);
}

}   // namespace

constexpr Parameter gathered_parameters[] = {memory_parameter};
extern constinit const Algorithm<ReduceArgs> gathered_algorithm = {"gathered",
                                                                   "everybody gets all operands and combines them",
                                                                   Family::tutti,
                                                                   "Tutti",
                                                                   requires_nothing,
                                                                   gathered_parameters,
                                                                   TUTTI_RUNS_ON_NODES(gathered)};

// allreduce/masters: each node reduces to its master through shared memory, the masters combine their results, and each
// master broadcasts the result on its node. Between N nodes the steps and bytes are those of the masters' algorithm
// among N ranks. In fragments, so that nodes combine one fragment while another is on the links.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.3; recursive k-ing:
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), section IV.

extern const Algorithm<ReduceArgs> recursive_doubling_algorithm, rabenseifner_algorithm, ring_algorithm;
namespace {

enum Part : std::size_t { between, radix, segment };

/// Combines the operands in segments up a binary tree, and passes the result down the tree.
Task along_tree(NetEnv& team, ReduceArgs const& a) {
    Messages<NetEnv> m(team, element_of(a));
    Segments const segments(a.bytes(), element_of(a), a.parameters[segment]);
    TreePlace const place = binary_tree(team.frames(), team.rank(), team.size());
    CombineUp<NetEnv> up(team, m, a, place, segments, place.parent < 0);
    PassDown<NetEnv> down(team, m, result(a), place, segments);
    co_await flow(team, up, &down, segments.count, 2 * static_cast<std::uint64_t>(place.depth));
    co_await m.close();
}

/// `team` consists of the masters, each of which has its node's partial result in its result buffer.
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

// reduce/masters: each node reduces to its master through shared memory, and the masters reduce along a tree of
// messages to the root, which acts as its node's master. The data crosses between N nodes N − 1 times whatever the
// root, in 1 (star) to N − 1 (chain) steps; large operands in segments, so that along a chain each link carries s bytes
// in and out, and in fragments, so that nodes combine one fragment while another is on the links.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.2.

namespace tutti::coll::algorithms::reduce {

extern const Algorithm<ReduceArgs> rabenseifner_algorithm;
namespace {

enum Part : std::size_t { between, segment };

/// `team` consists of the masters, each of which has its node's partial result as its operand.
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
    combined.in = sum.origin();   // in place at the root
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
