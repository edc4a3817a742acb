// SPDX-License-Identifier: BSD-3-Clause
// A file in memory (memfd) that one process holds, and how others of its node open it: through /proc, by process and
// descriptor. It has no name in any file system, so nothing is left behind, and the system lets only processes of the
// same user see it. Without allocation and exceptions: arenas are made inside malloc.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tutti {

struct MemoryFile {
    std::int32_t process = 0, descriptor = 0;
    std::uint64_t inode = 0;   ///< because numbers can come to mean another process or file; 0: there is no file

    bool operator==(MemoryFile const&) const = default;
};

/// The file behind a descriptor of this process; none when there is no such descriptor.
inline MemoryFile memory_file(int descriptor) {
    struct stat info {};
    if (descriptor < 0 || fstat(descriptor, &info) != 0) return {};
    return {getpid(), descriptor, info.st_ino};
}

/// Its name, for open and for people.
struct MemoryFileName {
    explicit MemoryFileName(MemoryFile const& file) {
        std::snprintf(text, sizeof text, "/proc/%d/fd/%d", file.process, file.descriptor);
    }
    char text[48];
};

/// A descriptor of this process for it, which the caller closes; −1 with errno, which is 0 when another file is there
/// by now.
inline int open_memory_file(MemoryFile const& file) {
    int const descriptor = open(MemoryFileName(file).text, O_RDWR | O_CLOEXEC);
    if (descriptor < 0 || memory_file(descriptor).inode == file.inode) return descriptor;
    close(descriptor);
    return errno = 0, -1;
}

/// May others of its user open what this process holds? Not where its program's file may be executed but not read.
inline bool others_may_open() { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1; }

/// A rank's arena in a file of its own, from its beginning on, as its peers may map it.
struct ArenaWindow {
    MemoryFile file;
    std::uint64_t base = 0;    ///< its address in the rank itself
    std::uint64_t bytes = 0;   ///< whole huge pages; 0: there is none

    bool operator==(ArenaWindow const&) const = default;
};

}  // namespace tutti
