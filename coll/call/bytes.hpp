// SPDX-License-Identifier: BSD-3-Clause
// What the library itself says around a communicator: plain bytes, while communicators are made and taken apart.
#pragma once

#include <cstddef>

#include "runtime/objects/comm.hpp"

namespace tutti::coll {

/// Collective over `comm`. `all` has room for size() · n bytes; n is the same everywhere.
void allgather_bytes(Comm& comm, void const* mine, std::size_t n, void* all);
/// Collective over `comm`. n is the same everywhere.
void bcast_bytes(Comm& comm, void* data, std::size_t n, int root);
/// Collective over `comm`: returns when every member has called it. What comes now is not the program's.
void barrier(Comm& comm);

}   // namespace tutti::coll
