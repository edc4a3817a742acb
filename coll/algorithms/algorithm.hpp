// SPDX-License-Identifier: BSD-3-Clause
// The record of an algorithm: its name, source, requirements and function. Each file in coll/algorithms/ has one such
// constant per algorithm, and coll/algorithms/algorithms.def has one line per algorithm. There is no second list. In
// the library, only coll/choice/all_algorithms.cpp includes it, so a new line recompiles no other algorithm.
#pragma once

#include <span>

#include "coll/env/env.hpp"
#include "coll/env/shm_env.hpp"

namespace tutti::coll {

/// The origin of an algorithm. Comparisons use it to distinguish published algorithms from our own.
enum class Family { tutti, xhc, yhccl, knem_coll, cheetah, mpich, baseline };
char const* name_of(Family family);

/// What an algorithm requires of a call. Calls that do not meet these requirements use another algorithm.
enum Requirements : unsigned {
    requires_nothing = 0,
    requires_slot = 1,   ///< the message fits into a slot (message_bytes defines which size counts)
    requires_commutative_or_consecutive =
        2,                      ///< the operator is commutative, or the teams of the hierarchy hold consecutive ranks
    requires_kernels = 4,       ///< a predefined operator on contiguous elements: kernels work on user buffers
    requires_equal_parts = 8,   ///< every rank's part has the same size, and every rank knows it
    requires_commutative_operator = 16,   ///< the operator is commutative: operands are not combined in rank order
    requires_intercommunicator = 32,      ///< an intercommunicator; without this, an intracommunicator
    requires_reassociation = 64,   ///< operands may be grouped freely, not only from the left (CallTraits::grouping)
    requires_bounded_gather =
        128,   ///< between nodes, the parts of all ranks together have at most max_gathered_bytes bytes
    requires_loadable_buffers =
        256,   ///< peers can load from and store to the buffers, which lie in arenas or can be attached
    requires_copyable_buffers = 512,     ///< peers can load the buffers, or the system copies them
    requires_consecutive_teams = 1024,   ///< the teams of the hierarchy hold consecutive ranks
    requires_kernel_copies = 2048        ///< the system copies memory between ranks (CMA)
};

/// Requirements that the settings may rule out for all buffers. Ranks learn only during an operation whether its own
/// buffers meet them. An algorithm may then refuse the operation (Environment::refuse), so that the next one in the
/// order of choice runs, or move those buffers through staging memory, if its description says so.
inline constexpr unsigned buffer_requirements =
    requires_loadable_buffers | requires_copyable_buffers | requires_kernel_copies;

/// Limit in bytes of the parts of all ranks together, for algorithms between nodes that keep them all in temporary
/// memory of one rank.
inline constexpr std::size_t max_gathered_bytes = 16 << 20;

class NetEnv;
class NodePartition;

/// Returns the number of operations on each node of which a call between nodes consists (coll/env/net_env.hpp). All
/// ranks must compute the same number; it may depend only on what every rank knows of the call, its parameters, and the
/// nodes.
template <class Args>
using NodeOperations = std::uint64_t (*)(Args const&, NodePartition const& nodes);

/// The cost of a blocking call, as formulas that coll/choice/cost.hpp explains and evaluates, and that lists print as
/// they are. The most important names (those of times: see there):
///   p     ranks, at least two
///   s     bytes of the message: in a broadcast, the message; in reductions, the whole vector; in gather, scatter and
///         allgather, the part of one rank; in alltoall, the part from one rank for another; in neighbourhood
///         collectives, the block of one edge
///   m     teams of the innermost level of the hierarchy; 1 on one level
/// and those of the algorithm's parameters.
struct Cost {
    /// Bytes that all ranks load and store, as the counters of the call show them, on one node, if contiguous buffers
    /// are in memory that all ranks access, operators commute, and there are at most two levels. Null: several nodes.
    char const* bytes = nullptr;
    /// Time by the model of Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009,
    /// section 3.1, in which only messages take time, between nodes and inside them. Null: the model does not cover it.
    char const* time = nullptr;
};

/// The fields of a record that describe the algorithm. An algorithm that serves several collectives states them once;
/// its records begin with that head, varied where the collectives differ.
struct RecordHead {
    char const* name;          ///< the value of the setting; also the name in tests and in the benchmark
    char const* description;   ///< one line of description for help and lists
    Family family;
    char const* source;   ///< paper and section; for our own algorithms, what they are based on
    unsigned requirements;
    std::span<Parameter const> parameters;

    constexpr RecordHead described_as(char const* other_description) const {
        return {name, other_description, family, source, requirements, parameters};
    }
    constexpr RecordHead with(std::span<Parameter const> other_parameters) const {
        return {name, description, family, source, requirements, other_parameters};
    }
    constexpr RecordHead from(char const* other_source) const {
        return {name, description, family, other_source, requirements, parameters};
    }
};

template <class Args>
struct Algorithm : RecordHead {
    Task (*shm)(ShmEnv&, Args const&);                ///< null: runs between nodes only
    Task (*net)(NetEnv&, Args const&) = nullptr;      ///< null: runs on one node only
    NodeOperations<Args> node_operations = nullptr;   ///< null: none
    char const* file = nullptr;                       ///< source file, relative to the root of the tree
    Cost cost = {};
};

/// Runs an algorithm of a record, with its own parameters in `args`.
template <class Args>
Task run_record(Algorithm<Args> const& record, ShmEnv& env, Args const& args) {
    return record.shm(env, args);
}
/// Runs another algorithm for a call, with the defaults of its parameters.
template <class Env, class Args, class Record>
Task run_instead(Env& env, Args args, Record const& other) {
    Values const values = default_values(other.parameters);
    args.parameters = values;
    co_await run_record(other, env, args);
}

/// The fields of a record from `shm` to `file`. TUTTI_SHM_ONLY: one coroutine template, which runs on one node only.
#define TUTTI_SHM_ONLY(function) function<ShmEnv>, nullptr, nullptr, __FILE__
/// One coroutine template made of messages alone, which also runs between nodes.
#define TUTTI_SHM_AND_NET(function) function<ShmEnv>, function<NetEnv>, nullptr, __FILE__
/// The same for a template that also uses shared memory on each node; NAME_operations returns the number of its
/// operations there.
#define TUTTI_SHM_AND_NODES(function) function<ShmEnv>, function<NetEnv>, function##_operations, __FILE__
/// One coroutine that runs between nodes only; NAME_operations returns the number of its operations on each node.
#define TUTTI_NET_ONLY(function) nullptr, function, function##_operations, __FILE__

/// The argument type of each collective.
template <Collective>
struct ArgsOf;
#define COLLECTIVE(name, Args)        \
    template <>                       \
    struct ArgsOf<Collective::name> { \
        using type = Args;            \
    };
#include "runtime/settings/collectives.def"

}   // namespace tutti::coll
