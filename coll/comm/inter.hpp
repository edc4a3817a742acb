// SPDX-License-Identifier: BSD-3-Clause
// Creates an intercommunicator from two groups, and merges the groups of an intercommunicator (MPI 3.1, 6.6.2).
#pragma once

#include <optional>

#include "runtime/objects/comm.hpp"

namespace tutti::coll {

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
