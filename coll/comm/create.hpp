// SPDX-License-Identifier: BSD-3-Clause
// Creation of communicators. The first member allocates a context that no other communicator ever has; the lowest
// member on each node allocates memory for the collectives there. All participants of the creating call receive both
// by a collective before any of them creates the object, so that they all succeed or all fail.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coll/env/env.hpp"
#include "runtime/process.hpp"

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

}   // namespace tutti::coll
