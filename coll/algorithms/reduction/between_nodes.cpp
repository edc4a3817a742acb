// SPDX-License-Identifier: BSD-3-Clause
// Reductions between nodes: allreduce (all_ranks, gathered, masters) and reduce (masters).
//
// allreduce/all_ranks: all ranks of a node communicate with other nodes concurrently. A reduce_scatter on each node, an
// allreduce of each slice among the ranks that hold it, one on each node, and an allgather on each node. There are as
// many slices as the smallest node has ranks; further ranks of larger nodes have none. With a ring of N nodes: 2
// (N − 1) steps over as many connections as there are slices; 2 (N − 1)/N·s bytes leave and enter each node. By default
// the parts on the nodes are YHCCL's movement-avoiding reduce_scatter and its allgather with adaptive copies, and the
// message is one operation; smaller fragments overlap.
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

namespace tutti::coll::algorithms::reduce_scatter {
extern const Algorithm<ReduceScatterArgs> movement_avoiding_algorithm, socket_aware_algorithm;
}
namespace tutti::coll::algorithms::allgather {
extern const Algorithm<AllgatherArgs> adaptive_copy_algorithm;
}

namespace tutti::coll::algorithms::allreduce {

extern const Algorithm<ReduceArgs> rabenseifner_algorithm, ring_algorithm;
namespace {

/// Indices of the parameters of all_ranks, and values of the second.
enum AllRanksParameter : std::size_t { between_nodes, inside_node, slice_bytes, copy_mode };
enum InsideNode : std::size_t { movement_avoiding_inside, socket_aware_inside, table_inside };

/// The number of elements of each rank of a node, and where they begin.
struct NodeSlices {
    NodeSlices(FramePool& frames, std::int64_t elements, int ranks, int sequences) : counts(frames), starts(frames) {
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
    for (int n = 0; n < env.partition().count(); ++n)
        holders.push_back(env.partition().members(n)[static_cast<std::size_t>(index)]);
    NetEnv team(env, std::move(holders), env.multi_node().masters);
    if (slice.parameters[between_nodes] == 0) co_await ring_algorithm.net(team, slice);
    else if (slice.parameters[between_nodes] == 1) co_await allreduce_by_shares(team, slice);
    else co_await rabenseifner_algorithm.net(team, slice);
}

/// The values of the parameters of allgather/adaptive_copy and of reduce_scatter/movement_avoiding: slice and copy.
Values parameters_of_copies(ReduceArgs const& a) {
    Values values;
    values.set(0, a.parameters[slice_bytes]);
    values.set(1, a.parameters[copy_mode]);
    return values;
}
/// The values of the parameters of the reduce_scatter on the node.
Values reduction_on_node(ReduceArgs const& a) {
    Values values = parameters_of_copies(a);
    if (a.parameters[inside_node] != socket_aware_inside) return values;
    values.set(1, reduce_scatter::socket_aware_algorithm.parameters[1].default_value);   // piece
    values.set(2, a.parameters[copy_mode]);
    return values;
}

Task all_ranks(NetEnv& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    NodePartition const& map = env.partition();
    NodeSlices const slices(env.frames(), a.count, map.size(map.own_part()), map.smallest());
    int const index = map.index_of(env.rank());
    auto const mine = static_cast<std::size_t>(index);
    TypedBuffer const memory(*a.type, slices.counts[mine], &env.frames());
    ReduceScatterArgs inside{};
    static_cast<ReduceArgs&>(inside) = a;
    inside.in = operand(a).address;
    inside.out = memory.origin();
    inside.counts = slices.counts;
    std::size_t const method = a.parameters[inside_node];
    Values const reduction = reduction_on_node(a), copies = parameters_of_copies(a);
    inside.parameters = reduction;
    co_await on_node(env, Collective::reduce_scatter, inside,
                     method == movement_avoiding_inside ? &reduce_scatter::movement_avoiding_algorithm
                     : method == socket_aware_inside    ? &reduce_scatter::socket_aware_algorithm
                                                        : nullptr);
    if (slices.counts[mine] > 0) {
        ReduceArgs slice = a;
        slice.in = in_place;
        slice.out = memory.origin();
        slice.count = slices.counts[mine];
        co_await among_nodes(env, slice, index);
    }
    AllgatherArgs distribution{};
    distribution.mine = {memory.origin(), slices.counts[mine], a.type};
    distribution.parts = Parts::irregular(a.out, slices.counts.data(), slices.starts.data(), *a.type);
    distribution.max_part_bytes = static_cast<std::size_t>(slices.counts.front() * a.type->size());
    distribution.parameters = copies;
    co_await on_node(env, Collective::allgather, distribution,
                     method == table_inside ? nullptr : &allgather::adaptive_copy_algorithm);
}

std::uint64_t all_ranks_operations(ReduceArgs const&, NodePartition const&) { return 2; }

}   // namespace

constexpr Parameter all_ranks_parameters[] = {
    {"between", 0, "how the ranks that hold a slice combine it", ParameterKind::keyword, "ring|shares|rabenseifner"},
    {"inside", 0, "how nodes reduce, and gather with adaptive copies; or both as the table and hints choose",
     ParameterKind::keyword, "movement_avoiding|socket_aware|table"},
    {"slice", 131072, "maximum bytes per slice on the node, unless the table chooses"},
    copy_parameter,
    {fragment_parameter.name, std::size_t{1} << 40, "bytes of a fragment; several smaller ones are in flight",
     ParameterKind::fragment},
};
extern constinit const Algorithm<ReduceArgs> all_ranks_algorithm = {
    "all_ranks",
    "slices are reduced on each node, combined between nodes by all ranks, and gathered",
    Family::yhccl,
    "YHCCL (Peng et al., SC 2023), section 5.5, multi-node",
    requires_commutative_operator | requires_reassociation,
    all_ranks_parameters,
    TUTTI_NET_ONLY(all_ranks)};

// allreduce/gathered: for small messages. Every rank gets all operands and combines them in rank order, so that the
// result has the same bits whatever the placement of ranks (coll/blocks/gathered.hpp). One step between nodes; with p
// ranks and operands of s bytes, p·s bytes enter each node.

namespace {

Task gathered(NetEnv& env, ReduceArgs const& a) {
    if (a.bytes() > 0) co_await fold_gathered(env, a, env.size(), a.parameters[0]);
}

std::uint64_t gathered_operations(ReduceArgs const& a, NodePartition const& map) {
    return gather_operations(a, map, a.parameters[0]);
}

}   // namespace

constexpr Parameter gathered_parameters[] = {memory_parameter};
extern constinit const Algorithm<ReduceArgs> gathered_algorithm = {"gathered",
                                                                   "every rank receives all operands and combines them",
                                                                   Family::tutti,
                                                                   "Tutti",
                                                                   requires_nothing,
                                                                   gathered_parameters,
                                                                   TUTTI_NET_ONLY(gathered)};

// allreduce/masters: each node reduces to its master through shared memory, the masters combine their results, and each
// master broadcasts the result on its node. Between N nodes the steps and bytes are those of the masters' algorithm
// among N ranks. In fragments, so that nodes combine one fragment while another is on the links.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.3; recursive k-ing:
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), section IV.

extern const Algorithm<ReduceArgs> recursive_doubling_algorithm, rabenseifner_algorithm, ring_algorithm;
namespace {

enum ParameterIndex : std::size_t { between, radix, segment };

/// Combines the operands in segments up a binary tree, and passes the result down the tree.
Task along_tree(NetEnv& team, ReduceArgs const& a) {
    Messages<NetEnv> m(team, element_of(a));
    Segments const segments(a.bytes(), element_of(a), a.parameters[segment]);
    TreePosition const position = binary_tree(team.frames(), team.rank(), team.size());
    CombineUp<NetEnv> up(team, m, a, position, segments, position.parent < 0);
    PassDown<NetEnv> down(team, m, result(a), position, segments);
    co_await flow(team, up, &down, segments.count, 2 * static_cast<std::uint64_t>(position.depth));
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
    NodePartition const& map = env.partition();
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
    BcastArgs distribution{};
    distribution.data = result(a);
    distribution.root = 0;
    co_await on_node(env, Collective::bcast, distribution);
}

std::uint64_t masters_operations(ReduceArgs const&, NodePartition const&) { return 2; }

}   // namespace

constexpr Parameter masters_parameters[] = {
    {"between", 0, "how the masters combine", ParameterKind::keyword,
     "recursive_k_ing|recursive_doubling|shares|rabenseifner|ring|binary"},
    {"radix", 4, "masters that combine their data in a step of recursive k-ing", ParameterKind::number},
    {"segment", 32768, "bytes that masters forward at a time along a binary tree"},
    fragment_parameter,
};
extern constinit const Algorithm<ReduceArgs> masters_algorithm = {
    "masters",
    "nodes reduce to their masters, masters combine, and each master broadcasts on its node",
    Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.3; Cheetah (CLUSTER 2013), section IV",
    requires_commutative_or_consecutive | requires_reassociation,
    masters_parameters,
    TUTTI_NET_ONLY(masters)};

}   // namespace tutti::coll::algorithms::allreduce

// reduce/masters: each node reduces to its master through shared memory, and the masters reduce along a tree of
// messages to the root, which acts as its node's master. The data crosses between N nodes N − 1 times whatever the
// root, in 1 (star) to N − 1 (chain) steps; large operands in segments, so that along a chain each link carries s bytes
// in and out, and in fragments, so that nodes combine one fragment while another is on the links.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.2.

namespace tutti::coll::algorithms::reduce {

extern const Algorithm<ReduceArgs> rabenseifner_algorithm;
namespace {

enum ParameterIndex : std::size_t { between, segment };

/// `team` consists of the masters, each of which has its node's partial result as its operand.
Task among_masters(NetEnv& team, ReduceArgs const& a) {
    static constexpr TreeShape shapes[] = {star_tree, binomial_tree, binary_tree, chain_tree};
    if (a.parameters[between] >= std::size(shapes)) {
        co_await rabenseifner_algorithm.net(team, a);
        co_return;
    }
    auto const shape = shapes[a.parameters[between]];
    TreePosition position = position_around(team.frames(), shape, a.root, team.rank(), team.size(), a.op->commutative);
    co_await reduce_to_root(team, a, std::move(position), a.root, a.parameters[segment]);
}

Task masters(NetEnv& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    NodePartition const& map = env.partition();
    int const master = map.master(map.own_part(), a.root);
    TypedBuffer const sum =
        env.rank() == master && master != a.root ? TypedBuffer(*a.type, a.count, &env.frames()) : TypedBuffer();
    ReduceArgs inside = a;
    inside.root = map.index_of(master);
    if (sum.origin()) inside.out = sum.origin();
    co_await on_node(env, Collective::reduce, inside);
    if (env.rank() != master) co_return;
    NetEnv team(env, map.masters(env.frames(), a.root), env.multi_node().masters);
    ReduceArgs combined = a;
    combined.root = map.part_of(a.root);
    combined.in = sum.origin();   // in place at the root
    co_await among_masters(team, combined);
}

std::uint64_t masters_operations(ReduceArgs const&, NodePartition const&) { return 1; }

}   // namespace

constexpr Parameter masters_parameters[] = {
    {"between", 1, "how the masters combine: along a tree, or halving vectors", ParameterKind::keyword,
     "linear|binomial|binary|chain|rabenseifner"},
    {"segment", 65536, "bytes that masters forward at a time along a tree"},
    fragment_parameter,
};
extern constinit const Algorithm<ReduceArgs> masters_algorithm = {
    "masters",
    "nodes reduce to their masters, and masters reduce along a tree to the root",
    Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.2",
    requires_commutative_or_consecutive | requires_reassociation,
    masters_parameters,
    TUTTI_NET_ONLY(masters)};

}   // namespace tutti::coll::algorithms::reduce
