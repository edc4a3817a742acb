// SPDX-License-Identifier: BSD-3-Clause
// New communicators made of an existing one (MPI 3.1, 6.4.2 and chapter 7). All inherit its error handler. Results are
// null on processes that are not in the new communicator. When its memory cannot be had, on any node, all who called
// throw Error(no_mem), also those who would not have been in it. What is made of an intercommunicator is one (but see
// merge, comm_inter.hpp).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "runtime/objects/request.hpp"

namespace tutti::coll {

/// Collective. Same members and topology; attributes are the caller's to copy. No hints (MPI 4.0, 7.4.2).
Ref<Comm> duplicate(Comm& parent);
/// Collective. The same members and nothing else: for the library's own use.
Ref<Comm> duplicate_bare(Comm& parent);

/// Collective. The parent's members in another order, or as one group.
Ref<Comm> create_of_all(Comm& parent, Members members);

/// A duplicate as a request: the communicator has its members at once, so it can have a handle, attributes and all else
/// that needs no other rank, and can be used when the request is complete. `hints`: its info; may be null.
std::pair<Ref<Comm>, Ref<Request>> duplicate_later(Comm& parent, Ref<Info> hints);

/// Collective. Every process names the group that it will be in (of which it need not be a member: it then gets none);
/// groups of different processes are equal or disjoint. `mine` is made of members of `parent`, on an intercommunicator
/// of its local group, and the same on each side; when one side names nobody, nobody gets anything.
Ref<Comm> create(Comm& parent, Ref<Group> mine);

/// Collective. One communicator per color, ranks by key and, where keys are equal, by rank in the parent. On an
/// intercommunicator a color that only one side has makes none.
Ref<Comm> split(Comm& parent, std::optional<int> color, int key);

/// Collective over the members of `mine` only, which has this process in it. Calls that may overlap use different tags.
/// `parent` is an intracommunicator.
Ref<Comm> create_group(Comm& parent, Ref<Group> mine, int tag);

}   // namespace tutti::coll
