// SPDX-License-Identifier: BSD-3-Clause
// Creation of communicators from an existing one (MPI 3.1, 6.4.2 and chapter 7). The new communicators inherit its
// error handler. The result is null on processes that are not in the new communicator. If its memory cannot be
// allocated on some node, all callers throw Error(no_mem), including those that would not have been members. The result
// for an intercommunicator is an intercommunicator (except merge, coll/comm/create.hpp).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "runtime/objects/comm.hpp"
#include "runtime/objects/request.hpp"

namespace tutti::coll {

/// Collective. Same members and topology. The caller copies the attributes. Info hints are not copied (MPI 4.0, 7.4.2).
Ref<Comm> duplicate(Comm& parent);
/// Collective. The same members and nothing else; for the library's own use.
Ref<Comm> duplicate_bare(Comm& parent);

/// Collective. The parent's members in another order, or as one group.
Ref<Comm> create_with_all_members(Comm& parent, Members members);

/// Duplicates a communicator by a request. The returned communicator has its members immediately, so it can have a
/// handle, attributes, and everything else that needs no other rank; it can be used when the request is complete.
/// `hints`: its info; may be null.
std::pair<Ref<Comm>, Ref<Request>> duplicate_nonblocking(Comm& parent, Ref<Info> hints);

/// Collective. `mine` is the group of the new communicator; a caller that is not in it gets none. The groups of
/// different processes are equal or disjoint. `mine` consists of members of `parent`; on an intercommunicator, of
/// members of its local group, and it is the same at all processes of a side. If the group of one side is empty, no
/// process gets a communicator.
Ref<Comm> create(Comm& parent, Ref<Group> mine);

/// Collective. Creates one communicator per color (nullopt is MPI_UNDEFINED), with ranks ordered by key and, for equal
/// keys, by rank in the parent. On an intercommunicator, a color used by only one side creates none.
Ref<Comm> split(Comm& parent, std::optional<int> color, int key);

/// Collective over the members of `mine` only, which must contain this process. Calls that may overlap must use
/// different tags. `parent` must be an intracommunicator.
Ref<Comm> create_group(Comm& parent, Ref<Group> mine, int tag);

// Distributed graphs whose edges may be specified by any process (MPI 3.1, 7.5.4).

struct Edge {
    int source, destination, weight;
};

/// Collective. Each process specifies some edges and gets those that begin or end at it, in the order of the specifying
/// ranks. Every edge is sent to every process once, which is acceptable for the number of ranks of a node.
DistGraphTopology exchange_edges(Comm& comm, std::vector<Edge> const& mine, bool weighted);

/// Collective. Fills graph.source_edges: for each incoming edge, its index among the outgoing edges of its source, and
/// the number of those edges; neighbourhood collectives need both. If the edges that a source and this process name do
/// not match, sets graph.mismatched_rank to that source.
void match_edges(Comm& comm, DistGraphTopology& graph);

}   // namespace tutti::coll
