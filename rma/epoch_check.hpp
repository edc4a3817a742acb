// SPDX-License-Identifier: BSD-3-Clause
// Checks that the members' epochs match. Fences and MPI_Win_free use the same barrier, so a surplus fence of one member
// matches the MPI_Win_free of the others: both are recorded as calls on the window's communicator (coll/match/), which
// detects this. A start whose target is never accessed waits for no post: MPI_Win_free compares starts with posts and
// warns. --check compares all members before each barrier, by messages.
#pragma once

#include "rma/window.hpp"

namespace tutti::rma {

/// Record the epoch that has just been opened.
void record_post(Window& window);
void record_start(Window& window);

/// Called after the barrier of MPI_Win_free; collective. Does not return if a member arrived there with a fence.
void compare_at_free(Window& window);

/// --check, called before the barrier: compares epochs with each other member and searches for conflicting accesses.
void exchange_at_fence(Window& window, Assertions assertions, char const* call);
void exchange_at_free(Window& window, char const* call);
/// Called after these: searches for conflicts of accesses under shared locks, among all members (shared_accesses.hpp).
void exchange_shared(Window& window, char const* call);

}   // namespace tutti::rma
