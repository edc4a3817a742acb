// SPDX-License-Identifier: BSD-3-Clause
// Windows for arenas: how long, files for them, and mapping them so that huge pages can be used, which is only where
// address and offset agree in them. Without allocation and exceptions: the arena maps inside malloc.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "runtime/base/limits.hpp"
#include "runtime/base/memory_file.hpp"

namespace tutti {

inline constexpr std::size_t huge_page_bytes = 2 << 20;

inline constexpr std::uint64_t least_window = 256ULL << 20;   ///< a shorter one is not worth having

/// Of the 47 bits of addresses that a process has. A rank maps its own window once and those of all ranks once.
inline constexpr std::uint64_t most_window_addresses = 64ULL << 40;

/// Addresses for windows, also where there is a limit (ulimit -v): half of it is the program's own, a quarter the
/// segment's.
inline std::uint64_t addresses_for_windows() {
    std::uint64_t const limit = limit_on(RLIMIT_AS);
    return limit / 4 < most_window_addresses ? limit / 4 : most_window_addresses;
}

/// Bytes of a rank's window on a node of so many: twice the machine's memory, so that fragments never fill it, where
/// the addresses suffice for that.
inline std::uint64_t window_bytes(std::uint64_t ranks, std::uint64_t addresses) {
    constexpr std::uint64_t giga = 1 << 30;
    struct sysinfo machine {};
    sysinfo(&machine);
    std::uint64_t const memory = std::uint64_t{machine.totalram} * machine.mem_unit;
    std::uint64_t window = giga;
    while (window < 2 * memory && window < 1024 * giga) window *= 2;
    while (window * (ranks + 1) > addresses) window /= 2;
    return window;
}

/// A copy of a descriptor that is out of the way of those that the program opens, and that nobody inherits.
inline int put_aside(int descriptor) {
    int const copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 64);
    return copy >= 0 ? copy : fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

/// A file as long as a window, or as the system grants; −1: it grants none. It becomes memory where it is touched.
inline int window_file(std::size_t& bytes) {
    int const made = make_memory_file("tutti-arena", MFD_CLOEXEC);
    if (made < 0) return -1;
    int const file = put_aside(made);
    close(made);
    std::uint64_t const limit = limit_on(RLIMIT_FSIZE);   // going beyond it is a signal
    for (; file >= 0 && bytes >= least_window; bytes /= 2)
        if (bytes <= limit && ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
    if (file >= 0) close(file);
    return -1;
}

/// `bytes` addresses, whole huge pages, which begin at a huge page and where nothing is yet. Null when the system does
/// not grant them.
inline void* reserve_window(std::size_t bytes) {
    constexpr std::size_t page = huge_page_bytes;
    void* room = mmap(nullptr, bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return nullptr;
    auto const start = reinterpret_cast<std::uintptr_t>(room), at = (start + page - 1) / page * page;
    if (at != start) munmap(room, at - start);
    munmap(reinterpret_cast<void*>(at + bytes), start + page - at);   // never nothing: `at` is less than a page on
    return reinterpret_cast<void*>(at);
}

/// Private memory that takes nothing before it is touched; null when the system does not grant it.
inline void* map_anonymous(std::size_t bytes, int access) {
    void* const room = mmap(nullptr, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room == MAP_FAILED ? nullptr : room;
}

/// The same at addresses that are mapped already, which it replaces.
inline bool map_anonymous_at(void* first, std::size_t bytes) {
    return mmap(first, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
           MAP_FAILED;
}

/// Passes advice on memory to the kernel. The program computes the same without it, so a refusal is no error.
inline void advise(void* memory, std::size_t bytes, int advice) {
    int const before = errno;
    if (madvise(memory, bytes, advice) != 0) errno = before;
}

/// Maps the file from `offset` on at `window`, a part of what was reserved. No byte is accessible before open_window,
/// and core files get none of it: a window is many times the machine's memory, and mlockall, a core file or a
/// checkpoint would touch all of it. False when the system refuses.
inline bool fill_window(void* window, int descriptor, off_t offset, std::size_t bytes, bool huge_pages) {
    if (mmap(window, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, descriptor, offset) == MAP_FAILED ||
        madvise(window, bytes, MADV_DONTDUMP) != 0)
        return false;
    if (huge_pages) advise(window, bytes, MADV_HUGEPAGE);
    return true;
}

/// Makes a part of a window accessible: whole pages. False when the system refuses.
inline bool open_window(void* first, std::size_t bytes) { return mprotect(first, bytes, PROT_READ | PROT_WRITE) == 0; }

/// Reserves and fills a window. Null when the system does not grant it. To be unmapped by munmap.
inline void* map_window(int descriptor, off_t offset, std::size_t bytes, bool huge_pages) {
    void* const window = reserve_window(bytes);
    if (!window || fill_window(window, descriptor, offset, bytes, huge_pages)) return window;
    munmap(window, bytes);
    return nullptr;
}

}   // namespace tutti
