// SPDX-License-Identifier: BSD-3-Clause
// Collectives that the library itself uses while communicators are created and freed. They move plain bytes.
#pragma once

#include <cstddef>

#include "runtime/objects/comm.hpp"

namespace tutti::coll {

/// Collective over `comm`: gathers n bytes from each member, in the order of the union group. `all` has room for n
/// bytes per member; n is the same at all ranks.
void allgather_bytes(Comm& comm, void const* mine, std::size_t n, void* all);
/// Collective over `comm`: broadcasts n bytes from `root`, a rank in the union group. n is the same at all ranks.
void bcast_bytes(Comm& comm, void* data, std::size_t n, int root);
/// Collective over `comm`. Returns when every member has called it. From then on, the calls on `comm` count as the
/// library's, not the program's.
void barrier(Comm& comm);

}   // namespace tutti::coll
