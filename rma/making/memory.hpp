// SPDX-License-Identifier: BSD-3-Clause
// Memory that belongs to a window: a block of the arena, which all ranks of the node map, or, where any of them cannot,
// of the segment.
#pragma once

#include "rma/window/window.hpp"

namespace tutti::rma {

/// Sets the window's base and what it owns. False: there is no memory. 0 bytes are a block of their own, too. All bytes
/// are 0.
bool allocate_memory(Window& window, std::size_t bytes, bool from_arena);
/// Gives it back; nobody uses it any more.
void release_memory(Window& window);
/// Lets the pages of this process's part lie where it runs, if there is a choice; those on its edges are its
/// neighbours' as well.
void place_part(Window& window);

}   // namespace tutti::rma
