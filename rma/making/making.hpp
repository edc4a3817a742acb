// SPDX-License-Identifier: BSD-3-Clause
// How windows come and go (MPI 3.1, 11.2; MPI 4.1, 12.2). Collective over the communicator unless said otherwise; when
// memory cannot be had at one member, all throw Error(no_mem).
#pragma once

#include "rma/window/window.hpp"

namespace tutti::rma {

/// What a window says where two calls of it may differ: hints of the standard (MPI 3.1, 11.2.1), null: none.
using Hints = Info const*;

/// Over `bytes` bytes at `base`, which stay the caller's.
Ref<Window> create(Comm& parent, void* base, std::int64_t bytes, int disp_unit, Hints hints);
/// Over memory of its own, Window::base, which goes with it; in the arena, so that all ranks of a node map it.
Ref<Window> allocate(Comm& parent, std::int64_t bytes, int disp_unit, Hints hints);
/// The same in one piece for all members, by rank, unless the hint alloc_shared_noncontig allows otherwise. Throws
/// Error(rma_shared) when they are on several nodes. Pages come from where their rank runs.
Ref<Window> allocate_shared(Comm& parent, std::int64_t bytes, int disp_unit, Hints hints);
Ref<Window> create_dynamic(Comm& parent, Hints hints);
/// Memory of a dynamic window; local. Throws Error(rma_attach) when it overlaps what is attached.
void attach(Window& window, void* base, std::int64_t bytes);
/// `base` as attach() had it; local.
void detach(Window& window, void const* base);
/// Returns when every member has called it; all epochs are over. Frees the memory that belongs to the window.
void free(Ref<Window> window);

/// Where this process finds a member's part; local.
struct Part {
    std::int64_t bytes = 0;
    int disp_unit = 1;
    void* base = nullptr;   ///< null, with 0 bytes: the part is not mapped here
};
/// A part of 0 bytes in memory that MPI allocated has an address, too: in a contiguous shared window, where the parts
/// before it end, so that programs compute with it (MPI 3.1, 11.2.3). `rank` may be proc_null: the first member of this
/// node with more than 0 bytes, or the node's first member. Throws Error(rma_flavor) for a dynamic window.
Part shared_query(Window& window, int rank);

/// MPI_Win_set_info: takes the hints that may change now.
void set_info(Window& window, Info const& hints);
/// The window is freed by one member alone: throws Error(rma_sync) with what is open when an epoch is.
void check_closed(Window const& window, char const* doing);

}   // namespace tutti::rma
