// SPDX-License-Identifier: BSD-3-Clause
// Creation of communicators: in general, of processes that share a resource, and of two groups. The first member
// allocates a context that no other communicator ever has; the lowest member on each node allocates memory for the
// collectives there. All participants of the creating call receive both by a collective before any of them creates
// the object, so that they all succeed or all fail.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coll/env/env.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/process.hpp"
#include "topo/binding.hpp"

namespace tutti::coll {

/// The contribution of one member to a new communicator. Plain bytes, which the members exchange.
struct ContextAllocation {
    std::uint64_t context;   ///< from the first member; otherwise 0
    std::uint64_t area;      ///< from the lowest member on a node: offset in the segment of that node; otherwise 0
    int owner;               ///< world rank of the member in whose heap the area is
    int failed;              ///< size of the communicator for which there was no memory; 0: no failure
};

/// Allocates this process's contribution. Must be called by every member of the new communicator. `members`: all of
/// them, on both sides of an intercommunicator. A failure is part of the result, so that no rank waits for one that
/// cannot continue.
ContextAllocation allocate_context(Process& process, Group const& members);
/// Checks the contributions of all participants, which may be in any order. If one of them failed, releases what this
/// process allocated and throws Error(no_mem), at all participants.
void check_allocations(Process& process, std::span<ContextAllocation const> parts);
/// Creates the communicator from the members' contributions in rank order (on one node, the first member's contribution
/// suffices), after check_allocations(). This process must be in `members.group`. Does not wait for other ranks.
Ref<Comm> make_comm(Process& process, Members members, std::span<ContextAllocation const> parts);
/// The second half of make_comm, for a communicator that has only its members so far.
void attach(Comm& comm, std::span<ContextAllocation const> parts);
/// Calls check_allocations() and make_comm(); the new communicator inherits `parent`'s error handler.
Ref<Comm> make_child(Comm& parent, Members members, std::span<ContextAllocation const> parts);

/// Returns true if all members are on this process's node.
bool on_one_node(Process const& process, Group const& group);

/// Must be called by all members between the same two collectives when the communicator's info has changed. The keys
/// tutti_coll (as TUTTI_COLL), tutti_coll_<collective> and tutti_wait apply from now on and take precedence over the
/// process's settings. Invalid keys and values are reported in `diagnostics`.
void apply_hints(Comm& comm, std::vector<std::string>& diagnostics);

/// Sets the communicator's name, including in everything recorded from now on.
void rename(Comm& comm, std::string_view name);
/// Stops call statistics: the following collectives, which end the process, are not the program's.
void stop_call_statistics(Process& process);

/// Creates the per-process state of the collectives, then process.world and process.self. Does not wait for other
/// ranks. Settings that cannot be parsed are reported in `diagnostics`.
void initialize(Process& process, std::vector<std::string>& diagnostics);

// Communicators of processes that share a resource (MPI 3.1, 6.4.2; MPI 4.1, 7.4.2).

/// The resource that a process requests to share with the members of its new communicator.
struct SharedResource {
    enum class Scope {
        nothing,    ///< it requests no communicator
        node,       ///< memory
        unit,       ///< one piece of hardware of a given kind, to which each of them is restricted
        any_unit,   ///< as `unit`, with the widest kind of hardware that separates some of them
        world,      ///< all processes
        self,       ///< only this process
    } scope = Scope::nothing;
    topo::Unit unit = topo::Unit::node;   ///< only for Scope::unit
};

struct SplitByType {
    Ref<Comm> comm;                   ///< null: none was requested, or this process is restricted to no such unit
    std::optional<topo::Unit> unit;   ///< kind of hardware that they share; nullopt: no hardware, or no `comm`
};

/// Collective. Processes that request the same resource and share it form a communicator, with ranks ordered by key as
/// in split(). A process that is not restricted to one piece of the requested hardware gets none.
SplitByType split_by_type(Comm& parent, SharedResource const& requested, int key);

// Creates an intercommunicator from two groups, and merges the groups of an intercommunicator (MPI 3.1, 6.6.2).

/// How the leader of a group reaches the leader of the other group.
struct Bridge {
    Comm* peer;
    int remote_leader;   ///< its rank among peer's peers
    int tag;
};

/// Collective over `local` and over the other group's intracommunicator. Only the leader passes a bridge. If it has
/// none (its arguments are invalid), every member of `local` throws. All members of both groups throw if the groups
/// overlap or memory is exhausted. The new communicator inherits the error handler of `local`.
Ref<Comm> create_intercomm(Comm& local, int leader, std::optional<Bridge> const& bridge);

/// Collective over both groups of an intercommunicator. Processes that pass `high` = true are ordered after the others.
/// If both groups pass the same value, the order is that of the union group, in which the group whose leader had the
/// lower world rank in MPI_Intercomm_create comes first. Throws if the values within a group differ.
Ref<Comm> merge_intercomm(Comm& inter, bool high);

}   // namespace tutti::coll
