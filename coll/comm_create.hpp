// SPDX-License-Identifier: BSD-3-Clause
// How a communicator comes to be: one member conceives it (a context that nobody else ever gets, memory for its
// collectives), the others learn of that by whatever collective the call is, and each makes its own object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coll/env.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {

/// What all members must know alike. Plain bytes, to be sent around.
struct Birth {
    std::uint64_t context;
    std::uint64_t area;   ///< offset in the segment; 0 when members are on several nodes, of which each has its own
    int owner;            ///< world rank of whom it lies with
};

/// By one member of the new communicator only; `members`: all of them, on both sides of an intercommunicator. Throws
/// Error(no_mem) when its shared memory is used up.
Birth conceive(Process& process, Group const& members);
/// By every member, with the same birth. This process is in `members.group`. Waits for nobody if all are on one node;
/// else for the lowest one on its node, who says by a message where their memory is.
Ref<Comm> make_comm(Process& process, Members members, Birth const& birth);
/// The second half of that, for a communicator that is nothing but its members yet.
void bear(Comm& comm, Birth const& birth);
/// The memory of the members on this node has been agreed on, too.
void bear(Comm& comm, Birth const& birth, Birth const& on_node);
/// Conceived by the lowest member of a node for its members there; a failure travels.
Birth conceive_on_node(Comm const& comm, std::uint64_t context);

/// The same, but a failure travels like a birth, so that nobody waits for one that cannot come; 0 is no communicator's
/// context.
Birth conceive_or_tell(Process& process, Group const& members);
/// The communicator of that birth, with `parent`'s error handler; throws Error(no_mem) if the birth tells of a failure.
Ref<Comm> grown(Comm& parent, Members members, Birth const& birth);

/// The tree that the process has chosen, or one of other levels; kept with the communicator.
Trees const& trees_of(Comm const& comm, topo::LevelChoice const* levels);
/// The communicator's info has changed: what it says by tutti_coll (as TUTTI_COLL) and tutti_coll_<collective> holds
/// for it from now on, before the process's settings. To be called by all members between the same two collectives.
void take_hints(Comm& comm, std::vector<std::string>& complaints);

/// Gives the communicator the name that users see, also in what is recorded from now on.
void rename(Comm& comm, std::string_view name);
/// What comes now is not the program's: the collectives that end the process.
void stop_recording(Process& process);

/// Makes what collectives keep per process, then process.world and process.self; waits for nobody. Settings that do
/// not parse become sentences in `complaints`.
void start(Process& process, std::vector<std::string>& complaints);

}  // namespace tutti::coll
