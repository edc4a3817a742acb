// SPDX-License-Identifier: BSD-3-Clause
// Checks of collectives under --check: the ranks compare the amounts that pairs exchange in v and w forms, and blocking
// collectives wait for all members.
#pragma once

#include "coll/env/arguments.hpp"
#include "runtime/objects/comm.hpp"

namespace tutti::coll {

/// True for neighbourhood collectives, in which only neighbours wait for each other.
inline bool is_neighborhood(Collective collective) {
    return collective == Collective::neighbor_allgather || collective == Collective::neighbor_alltoall;
}

/// Returns when all members have made this call.
void await_members(Comm& comm);

/// Used by blocking and persistent calls, which must have been recorded. Blocks until all members have made the call,
/// and compares the amounts that the ranks will exchange before any data moves. No rank returns from a call that other
/// members have not made, so programs that rely on a collective to synchronise are found (MPI 4.1, 6.14); neighbourhood
/// collectives are exempt. A mismatch is reported and the function does not return, unless the program handles errors
/// itself (CallRecords::report_amounts).
void check_with_members(Comm& comm, Collective collective, RootedArgs const& args);
void check_with_members(Comm& comm, Collective, AlltoallArgs const& args);
template <class Args>
void check_with_members(Comm& comm, Collective collective, Args const&) {
    if (!is_neighborhood(collective)) await_members(comm);
}

/// Used by nonblocking calls, after the call has been recorded. A mismatch is found when all ranks have started the
/// operation.
void exchange_amounts(Comm const& comm, Collective collective, RootedArgs const& args);
void exchange_amounts(Comm const& comm, Collective collective, AlltoallArgs const& args);
template <class Args>
void exchange_amounts(Comm const&, Collective, Args const&) {}

}   // namespace tutti::coll
