// SPDX-License-Identifier: BSD-3-Clause
// A file in memory (memfd) that one process holds, and how other processes of the node open it: through /proc, by
// process and descriptor. It has no name in any file system, so it cannot be left behind. Two things keep other users
// out: the system shows a process's descriptors only to its own user, and the file is readable and writable for that
// user alone. No allocation and no exceptions, because arenas are created inside malloc.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tutti {

/// Creates an empty file for this user alone (the system grants everyone access). Returns its descriptor, or −1 with
/// errno. `flags` are those of memfd_create.
inline int create_memory_file(char const* name, unsigned flags) {
    int const descriptor = memfd_create(name, flags);
    if (descriptor < 0 || fchmod(descriptor, S_IRUSR | S_IWUSR) == 0) return descriptor;
    int const error = errno;
    close(descriptor);
    return errno = error, -1;
}

/// Identifies a memory file to other processes of the node. Owns nothing.
struct MemoryFile {
    std::int32_t process = 0, descriptor = 0;
    std::uint64_t inode = 0;   ///< detects that the numbers now mean another process or file; 0: there is no file

    bool operator==(MemoryFile const&) const = default;
};

/// Returns the file behind a descriptor of this process; none if there is no such descriptor.
inline MemoryFile memory_file(int descriptor) {
    struct stat info {};
    if (descriptor < 0 || fstat(descriptor, &info) != 0) return {};
    return {getpid(), descriptor, info.st_ino};
}

/// The file's name, for open() and for messages.
struct MemoryFileName {
    explicit MemoryFileName(MemoryFile const& file) {
        std::snprintf(text, sizeof text, "/proc/%d/fd/%d", file.process, file.descriptor);
    }
    char text[48];
};

/// Returns a descriptor of this process for the file, which the caller closes, or −1 with errno. errno is 0 if another
/// file is there by now: the numbers may have been reused by another process, and root may open whatever that process
/// holds.
inline int open_memory_file(MemoryFile const& file) {
    int const descriptor = open(MemoryFileName(file).text, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) return -1;
    struct stat info {};
    bool const nameless = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 0;
    if (nameless && info.st_ino == file.inode && info.st_uid == geteuid()) return descriptor;
    close(descriptor);
    return errno = 0, -1;
}

/// Returns true if other processes of this user may open what this process holds. They may not if the executable file
/// of this process can be executed but not read.
inline bool peers_may_open() { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1; }

/// A rank's arena in a file of its own, from its beginning on, as its peers may map it.
struct ArenaWindow {
    MemoryFile file;
    std::uint64_t base = 0;    ///< address in the rank that owns the arena
    std::uint64_t bytes = 0;   ///< whole huge pages; 0: there is no arena

    bool operator==(ArenaWindow const&) const = default;
};

}   // namespace tutti
