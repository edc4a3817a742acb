// SPDX-License-Identifier: BSD-3-Clause
// Memory that belongs to a window: a block of the arena, which all ranks of the node map, or, where any of them cannot,
// of the segment.
#pragma once

#include "rma/window/window.hpp"

namespace tutti::rma {

/// Bytes of the block that allocate_memory allocates for `bytes` bytes: 0 bytes have a block of their own, too.
constexpr std::uint64_t block_bytes(std::int64_t bytes) { return bytes ? static_cast<std::uint64_t>(bytes) : 1; }

/// Sets the window's base and what it owns. False: there is no memory. All bytes are 0.
bool allocate_memory(Window& window, std::int64_t bytes, bool from_arena);
/// Gives it back; nobody uses it any more.
void release_memory(Window& window);
/// Lets the pages of this process's part lie where it runs, if there is a choice; those on its edges are its
/// neighbours' as well.
void place_part(Window& window);

}   // namespace tutti::rma
