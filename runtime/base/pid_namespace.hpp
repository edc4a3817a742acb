// SPDX-License-Identifier: BSD-3-Clause
// A process number means a process only within one pid namespace: in another one, as in a container, it means another
// process or none. A number that another process has written is therefore used only where both are known to be in one
// namespace. Without allocation and exceptions: arenas are claimed inside malloc.
#pragma once

#include <cstdint>

#include <sys/stat.h>

namespace tutti {

/// Identifies the pid namespace of the calling process among those of the machine; 0 where it is not known, as without
/// /proc.
inline std::uint64_t pid_namespace() {
    struct stat info {};
    return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

/// Do process numbers from `other` mean the same in `own`? False where either is not known.
inline bool same_numbers(std::uint64_t own, std::uint64_t other) { return own != 0 && own == other; }

}   // namespace tutti
