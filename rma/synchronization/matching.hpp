// SPDX-License-Identifier: BSD-3-Clause
// Do the members' epochs match? Fences and MPI_Win_free meet in one barrier, so a member that has called one fence more
// meets the others' MPI_Win_free with it: both are recorded as calls on the window's communicator (coll/match), which
// finds it. And no rank waits for a post whose target is never accessed: MPI_Win_free compares starts with posts and
// warns. --check compares all members at each barrier, by messages.
#pragma once

#include "rma/window/window.hpp"

namespace tutti::rma {

/// Of the epoch that has just been opened.
void note_post(Window& window);
void note_start(Window& window);

/// After the barrier of MPI_Win_free, collective. Does not return where a member came there with a fence.
void compare_at_free(Window& window);

/// --check, before the barrier: with each other member. Conflicting accesses are looked for, too.
void exchange_at_fence(Window& window, Assertions assertions, char const* call);
void exchange_at_free(Window& window, char const* call);
/// Behind these: conflicts of accesses under shared locks, among all members (rma/window/shared_accesses.hpp).
void exchange_shared(Window& window, char const* call);

}   // namespace tutti::rma
