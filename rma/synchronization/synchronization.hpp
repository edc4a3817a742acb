// SPDX-License-Identifier: BSD-3-Clause
// Epochs (MPI 3.1, 11.5). `call` names the MPI function for whoever asks what this rank waits for. Throws
// Error(rma_sync) when the epoch that a call needs is not open, or one is that it excludes.
#pragma once

#include "rma/window/window.hpp"

namespace tutti::rma {

/// Collective.
void fence(Window& window, Assertions assertions, char const* call);

// Between groups. `group` is part of the window's; counters of pairs tell who has posted and who has completed.
void post(Window& window, Ref<Group> group, Assertions assertions, char const* call);
/// Waits for nobody: whoever is accessed first, or completed, is waited for then.
void start(Window& window, Ref<Group> group, Assertions assertions, char const* call);
void complete(Window& window, char const* call);
void wait(Window& window, char const* call);
/// True when all have completed: then it was `wait`.
bool test(Window& window, char const* call);

// Passive targets.
void lock(Window& window, bool exclusive, int rank, Assertions assertions, char const* call);
void unlock(Window& window, int rank, char const* call);
void lock_all(Window& window, Assertions assertions, char const* call);
void unlock_all(Window& window, char const* call);
/// Everything that this process has begun towards `rank` is complete there.
void flush(Window& window, int rank, char const* call);
void flush_all(Window& window, char const* call);
/// Its buffers may be used again.
void flush_local(Window& window, int rank, char const* call);
void flush_local_all(Window& window, char const* call);
/// Makes what others have stored visible to loads, and the other way round.
inline void sync(Window& window) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    window.stored = false;
}

}   // namespace tutti::rma
