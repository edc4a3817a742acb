// SPDX-License-Identifier: BSD-3-Clause
// --check: what all ranks send each other in the v and w forms, compared by the ranks themselves, and collectives in
// which all ranks wait for all.
#pragma once

#include "coll/env/arguments.hpp"
#include "runtime/objects/comm.hpp"

namespace tutti::coll {

/// Only neighbours wait for each other in these.
inline bool is_of_neighbors(Collective collective) {
    return collective == Collective::neighbor_allgather || collective == Collective::neighbor_alltoall;
}

/// Returns when all members have come to this call.
void await_others(Comm& comm);

/// Blocking, of a call that has been recorded, before any data moves: what all ranks will send each other. And no rank
/// returns from a call that others have not made, so that programs that rely on collectives that need not wait are
/// found (MPI 4.1, 6.14). Does not return where amounts do not match.
void check_with_others(Comm& comm, Collective collective, RootedArgs const& args);
void check_with_others(Comm& comm, Collective, AlltoallArgs const& args);
template <class Args>
void check_with_others(Comm& comm, Collective collective, Args const&) {
    if (!is_of_neighbors(collective)) await_others(comm);
}

/// Nonblocking, of a request whose call has been recorded: what does not match is found when all ranks have begun it.
void exchange_amounts(Comm const& comm, Collective collective, RootedArgs const& args);
void exchange_amounts(Comm const& comm, Collective collective, AlltoallArgs const& args);
template <class Args>
void exchange_amounts(Comm const&, Collective, Args const&) {}

}   // namespace tutti::coll
