// SPDX-License-Identifier: BSD-3-Clause
// Do the members' epochs match? Fences and MPI_Win_free meet in one barrier, so a member that has called one fence more
// meets the others' MPI_Win_free with it; and nobody waits for a post whose target is never accessed.
//
// Members of a node are looked at by MPI_Win_free, which costs fences two stores: who frees says so to each of them,
// before the barrier. Who has not is in a fence, and has left its place. It cannot go two barriers further without the
// others, nor give its control back without one, so that place stays until it has been read. --check compares all
// members at each barrier, by messages. Fences that do not match end the job, the rest is warned of.
#pragma once

#include "rma/window/window.hpp"

namespace tutti::rma {

/// Before the barrier of a fence, and of MPI_Win_free.
void note_fence(Window& window);
void note_free(Window& window);
/// Of the epoch that has just been opened.
void note_post(Window& window);
void note_start(Window& window);

/// After the barrier of MPI_Win_free. Does not return where a member of this node came there with a fence.
void compare_at_free(Window& window);

/// --check, before the barrier: with each other member. Conflicting accesses are looked for, too.
void exchange_at_fence(Window& window, Assertions assertions, char const* call);
void exchange_at_free(Window& window, char const* call);
/// Behind these: conflicts of accesses under shared locks, among all members (rma/window/shared_accesses.hpp).
void exchange_shared(Window& window, char const* call);

}   // namespace tutti::rma
