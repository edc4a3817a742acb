// SPDX-License-Identifier: BSD-3-Clause
// Synchronization of windows (MPI 3.1, 11.5), called by mpi_h/windows/. `call` names the MPI function in reports of
// what this rank waits for. Functions throw Error(rma_sync) if the epoch that the call needs is not open, or one is
// open that it excludes.
#pragma once

#include "rma/window.hpp"

namespace tutti::rma {

/// Completes the operations of the previous epoch at all members, and opens the next one unless MPI_MODE_NOSUCCEED is
/// asserted. Collective; a barrier unless both MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED are asserted.
void fence(Window& window, Assertions assertions, char const* call);

// Epochs between groups. `group` is a subset of the window's group; counters per pair of members record posts and
// completes.

/// Opens an exposure epoch for `group`. Does not wait.
void post(Window& window, Ref<Group> group, Assertions assertions, char const* call);
/// Opens an access epoch. Does not wait: the first access to a target waits for its post.
void start(Window& window, Ref<Group> group, Assertions assertions, char const* call);
/// Closes the access epoch; returns when the origin buffers may be reused. Does not wait for posts of targets that were
/// not accessed.
void complete(Window& window, char const* call);
/// Closes the exposure epoch; returns when all origins have called complete().
void wait(Window& window, char const* call);
/// Returns true if all origins have completed; the exposure epoch is then closed as by wait().
bool test(Window& window, char const* call);

// Passive targets. The lock of a target on another node may be acquired later than in lock(): with the first operation
// towards it, or before the next lock of any window. lock_all() returns with all locks held.

void lock(Window& window, bool exclusive, int rank, Assertions assertions, char const* call);
void unlock(Window& window, int rank, char const* call);
void lock_all(Window& window, Assertions assertions, char const* call);
void unlock_all(Window& window, char const* call);
/// Returns when everything that this process has begun towards `rank` is complete there.
void flush(Window& window, int rank, char const* call);
void flush_all(Window& window, char const* call);
/// Returns when the buffers may be reused.
void flush_local(Window& window, int rank, char const* call);
void flush_local_all(Window& window, char const* call);
/// Makes stores of other ranks visible to loads, and stores of this rank visible to others.
inline void sync(Window& window) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    window.stored = false;
}

// Checks that the members' epochs match (epoch_check.cpp). Fences and MPI_Win_free use the same barrier, so a
// surplus fence of one member matches the MPI_Win_free of the others: both are recorded as calls on the window's
// communicator (coll/match/), which detects this. A start whose target is never accessed waits for no post:
// MPI_Win_free compares starts with posts and warns. --check compares all members before each barrier, by messages.

/// Record the epoch that has just been opened.
void record_post(Window& window);
void record_start(Window& window);

/// Called after the barrier of MPI_Win_free; collective. Does not return if a member arrived there with a fence.
void compare_at_free(Window& window);

/// --check, called before the barrier: compares epochs with each other member and searches for conflicting accesses.
void exchange_at_fence(Window& window, Assertions assertions, char const* call);
void exchange_at_free(Window& window, char const* call);
/// Called after these: searches for conflicts of accesses under shared locks, among all members (SharedAccesses).
void exchange_shared(Window& window, char const* call);

}   // namespace tutti::rma
