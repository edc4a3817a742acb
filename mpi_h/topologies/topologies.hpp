// SPDX-License-Identifier: BSD-3-Clause
// What the functions of all virtual topologies share.
#pragma once

#include <algorithm>

#include "mpi_h/communicators/objects.hpp"

namespace tutti {

/// The topology of this kind that the communicator must have.
template <class T>
T& topology_of(Comm& c, char const* what) {
    T* topology = c.topology ? std::get_if<T>(c.topology.get()) : nullptr;
    if (!topology) fail(ErrorClass::topology, "comm has not got ", what);
    return *topology;
}

/// Gives a new communicator its topology and a handle; null stays MPI_COMM_NULL.
template <class T>
MPI_Comm with_topology(Ref<Comm> made, T topology) {
    if (made) made->topology = std::make_unique<VirtualTopology>(std::move(topology));
    return handle_of(std::move(made));
}

/// The group of the communicator's ranks 0 to n − 1.
inline Ref<Group> first_ranks(Comm const& c, int n) {
    if (n == c.size()) return c.group;
    auto ranks = c.group->world_ranks().first(static_cast<std::size_t>(n));
    return Ref<Group>::adopt(new Group({ranks.begin(), ranks.end()}, c.group->me()));
}

/// A rank that names a process: no MPI_PROC_NULL here.
inline void member(Comm const& c, int rank, char const* argument = "rank") {
    if (rank < 0 || rank >= c.size())
        fail(ErrorClass::rank, argument, " is ", rank, " but the communicator has ", c.size(), " ranks");
}

}   // namespace tutti
