// SPDX-License-Identifier: BSD-3-Clause
// Fences that one side pays for both: who rarely has to know what others have just stored runs a fence in all of them,
// and they need none (membarrier(2), asymmetric fences). What each use relies on is argued where it stands.
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tutti {

inline bool membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

/// From now on this process is among those in which `fence_registered_processes` runs a fence. False: the system has no
/// such thing.
inline bool register_for_fences() { return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED); }
/// A fence at some point of each running thread of every registered process.
inline void fence_registered_processes() { membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED); }

/// The same among the threads of this process.
inline bool register_for_own_fences() { return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); }
inline void fence_own_threads() { membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }

}   // namespace tutti
