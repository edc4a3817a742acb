// SPDX-License-Identifier: BSD-3-Clause
// The record that makes an algorithm: what it is called, where it comes from, what it asks for, how it is run. Each
// algorithm's file ends in one such constant, and coll/algorithms/algorithms.def has one line for it; there is no
// second list, and nothing but all_algorithms.cpp includes it, so that a new line compiles no other algorithm.
#pragma once

#include <span>

#include "coll/env/env.hpp"
#include "coll/env/shm_env.hpp"

namespace tutti::coll {

/// Whose algorithm it is: by this the comparisons tell what was published from what is ours.
enum class Family { tutti, xhc, yhccl, knem_coll, cheetah, mpich, baseline };
char const* name_of(Family family);

/// What an algorithm cannot do without; a call that does not traits it gets another one.
enum Requirements : unsigned {
    requires_nothing = 0,
    requires_slot = 1,          ///< the message fits into a slot (what counts as the message: see message_bytes)
    requires_commutative = 2,   ///< the operator commutes, or the hierarchy's teams hold consecutive ranks
    requires_one_kind = 4,      ///< a built-in operator on elements without gaps: a kernel takes them where they lie
    requires_equal_parts = 8,   ///< every rank's part has the same size and every rank knows it
    requires_commuting_operator = 16,   ///< the operator commutes: operands are combined in no order of the ranks
    requires_two_groups = 32,           ///< an intercommunicator; without this, an intracommunicator
    requires_grouping = 64,   ///< sums of some ranks are combined with sums of others (see CallTraits::grouping)
    requires_room = 128,      ///< between nodes, all ranks' parts together have at most most_gathered bytes
};

/// Bytes of all ranks' parts together that an algorithm between nodes may keep in memory of its own at a rank.
inline constexpr std::size_t most_gathered = 16 << 20;

class NetEnv;
class Division;

/// Between nodes an algorithm also says how many operations of each node's own it is made of (coll/env/on_node.hpp).
/// All ranks must find the same number: from what they all know of a call, its parameters and the nodes.
template <class Args>
using NodeOperations = std::uint64_t (*)(Args const&, Division const& nodes);

template <class Args>
struct Algorithm {
    char const* name;   ///< file name = setting value = test name = row in the benchmark
    char const* sentence;
    Family family;
    char const* source;   ///< paper and section; where it is ours, what it is built on
    unsigned requirements;
    std::span<Parameter const> parameters;
    Task (*shm)(ShmEnv&, Args const&);                ///< null: only between nodes
    Task (*net)(NetEnv&, Args const&) = nullptr;      ///< null: only on one node
    NodeOperations<Args> node_operations = nullptr;   ///< null: none
};

/// The last fields of a record: one coroutine template for the environment of one node,
#define TUTTI_RUNS(function) function<ShmEnv>
/// or, made of nothing but messages, between nodes, too,
#define TUTTI_RUNS_ANYWHERE(function) function<ShmEnv>, function<NetEnv>
/// or a coroutine for several nodes alone; NAME_operations says how many operations it runs on each.
#define TUTTI_RUNS_ON_NODES(function) nullptr, function, function##_operations

template <Collective c>
struct ArgsOf {
    using type = ReduceArgs;
};
template <>
struct ArgsOf<Collective::barrier> {
    using type = BarrierArgs;
};
template <>
struct ArgsOf<Collective::bcast> {
    using type = BcastArgs;
};
template <>
struct ArgsOf<Collective::gather> {
    using type = RootedArgs;
};
template <>
struct ArgsOf<Collective::scatter> {
    using type = RootedArgs;
};
template <>
struct ArgsOf<Collective::allgather> {
    using type = AllgatherArgs;
};
template <>
struct ArgsOf<Collective::alltoall> {
    using type = AlltoallArgs;
};
template <>
struct ArgsOf<Collective::reduce_scatter> {
    using type = ReduceScatterArgs;
};
template <>
struct ArgsOf<Collective::neighbor_allgather> {
    using type = NeighborAllgatherArgs;
};
template <>
struct ArgsOf<Collective::neighbor_alltoall> {
    using type = NeighborAlltoallArgs;
};

}   // namespace tutti::coll
