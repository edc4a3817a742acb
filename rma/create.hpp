// SPDX-License-Identifier: BSD-3-Clause
// Creating and freeing windows (MPI 3.1, 11.2; MPI 4.1, 12.2), their memory and their hints. Functions are collective
// over the communicator unless stated otherwise; if memory is missing at one member, all throw Error(no_mem).
#pragma once

#include "rma/window.hpp"

namespace tutti::rma {

/// Hints of the standard (MPI 3.1, 11.2.1); null: none.
using Hints = Info const*;

/// Over `bytes` bytes at `base`, which the caller owns.
Ref<Window> create(Comm& parent, void* base, std::int64_t bytes, int disp_unit, Hints hints);
/// Over memory that the window owns, Window::base; in the arena, so that all ranks of a node map it.
Ref<Window> allocate(Comm& parent, std::int64_t bytes, int disp_unit, Hints hints);
/// As allocate(), with contiguous memory for all members, by rank, unless the hint alloc_shared_noncontig allows
/// otherwise. Throws Error(rma_shared) if the members are on several nodes. Pages are placed on the NUMA node of the
/// rank whose part they hold.
Ref<Window> allocate_shared(Comm& parent, std::int64_t bytes, int disp_unit, Hints hints);
/// Without memory; attach() adds some.
Ref<Window> create_dynamic(Comm& parent, Hints hints);
/// Attaches memory to a dynamic window; local. Throws Error(rma_attach) if it overlaps attached memory.
void attach(Window& window, void* base, std::int64_t bytes);
/// `base`: as passed to attach(); local.
void detach(Window& window, void const* base);
/// Returns when every member has called it; all epochs must be closed. Frees the memory that the window owns.
void free(Ref<Window> window);

/// A member's part as this process accesses it; local.
struct WindowPart {
    std::int64_t bytes = 0;
    int disp_unit = 1;
    void* base = nullptr;   ///< null, with 0 bytes: the part is not mapped in this process
};
/// A part of 0 bytes in memory that MPI allocated has an address, too: in a contiguous shared window it is the end of
/// the preceding parts, so that programs can compute with it (MPI 3.1, 11.2.3). `rank` may be proc_null: the first
/// member of this node with more than 0 bytes, or else the node's first member. Throws Error(rma_flavor) for a dynamic
/// window.
WindowPart shared_query(Window& window, int rank);

/// MPI_Win_set_info: applies the hints that may change after creation.
void set_info(Window& window, Info const& hints);
/// Local check before the window is freed: throws Error(rma_sync) naming the open epoch, if there is one.
void check_closed(Window const& window, char const* doing);

// Hints of windows (MPI 3.1, 11.2.1; MPI 4.1, 12.2.1): the supported ones and their values in use.

/// Stores the values in use in the new window's info and applies the hints that have an effect. Null: no hints.
void init_hints(Window& window, Hints requested);

// Memory that a window owns: a block of the arena, which all ranks of the node map, or of the segment if some rank
// cannot map arenas.

/// Size in bytes of the block that allocate_memory allocates for `bytes` bytes: never 0, so that empty parts have a
/// block, too.
constexpr std::uint64_t block_bytes(std::int64_t bytes) { return bytes ? static_cast<std::uint64_t>(bytes) : 1; }

/// Sets the window's base and its owned memory, filled with 0. Returns false if there is no memory.
bool allocate_memory(Window& window, std::int64_t bytes, bool from_arena);
/// Frees the memory; no member may access it any more.
void release_memory(Window& window);
/// Moves the pages of this process's part to the NUMA node where it runs, if there is a choice. Pages at the edges also
/// contain its neighbors' memory.
void place_part(Window& window);

}   // namespace tutti::rma
