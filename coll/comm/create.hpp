// SPDX-License-Identifier: BSD-3-Clause
// How a communicator comes to be: the first member finds it a context that nobody else ever gets, the lowest member on
// each node memory for its collectives there; all who take part in the call learn of that before anybody makes an
// object, by whatever collective the call is, so that they all succeed or all fail.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coll/env/env.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {

/// What one member brings to a new communicator. Plain bytes, to be sent around.
struct ContextAllocation {
    std::uint64_t context;   ///< from the first member, else 0
    std::uint64_t area;      ///< from the lowest member on a node: offset in the segment there; else 0
    int owner;               ///< world rank of whom it lies with
    int failed;              ///< no memory could be had for a communicator of so many ranks; else 0
};

/// By every member of the new communicator; `members`: all of them, on both sides of an intercommunicator. A failure
/// is part of the answer, so that nobody waits for somebody who cannot come.
ContextAllocation allocate_context(Process& process, Group const& members);
/// What everybody who takes part has brought, in any order, without failure; otherwise what this process had allocated
/// goes back and Error(no_mem) is thrown, at all of them.
void agree(Process& process, std::span<ContextAllocation const> parts);
/// With what the members have brought, in rank order; of a communicator on one node the first one's will do. Agreed
/// upon, and this process is in `members.group`. Waits for nobody.
Ref<Comm> make_comm(Process& process, Members members, std::span<ContextAllocation const> parts);
/// The second half of that, for a communicator that is nothing but its members yet.
void attach(Comm& comm, std::span<ContextAllocation const> parts);
/// Both, and the new communicator has `parent`'s error handler.
Ref<Comm> make_child(Comm& parent, Members members, std::span<ContextAllocation const> parts);

/// Are all of them on this process's node?
bool on_one_node(Process const& process, Group const& group);

/// The communicator's info has changed: what it says by tutti_coll (as TUTTI_COLL), tutti_coll_<collective> and
/// tutti_wait holds for it from now on, before the process's settings. To be called by all members between the same two
/// collectives.
void take_hints(Comm& comm, std::vector<std::string>& complaints);

/// Gives the communicator the name that users see, also in what is recorded from now on.
void rename(Comm& comm, std::string_view name);
/// What comes now is not the program's: the collectives that end the process.
void stop_recording(Process& process);

/// Makes what collectives keep per process, then process.world and process.self; waits for nobody. Settings that do
/// not parse become sentences in `complaints`.
void start(Process& process, std::vector<std::string>& complaints);

}   // namespace tutti::coll
