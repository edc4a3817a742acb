// SPDX-License-Identifier: BSD-3-Clause
// Address windows for arenas: their length, files for them, and mappings that permit huge pages, which require that
// address and file offset agree modulo the huge page size. The functions neither allocate nor throw, because the arena
// maps inside malloc.
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

inline constexpr std::uint64_t min_window_bytes = 256ULL << 20;   ///< a shorter window is not worthwhile

/// Maximum bytes of addresses for windows, out of the 2^47 that a process has. A rank maps its own window once and
/// the windows of all ranks once.
inline constexpr std::uint64_t max_window_addresses = 64ULL << 40;

/// Returns the bytes of addresses for windows, also under a limit (ulimit -v): half of it is left to the program, a
/// quarter to the segment.
inline std::uint64_t addresses_for_windows() {
    std::uint64_t const limit = limit_on(RLIMIT_AS);
    return limit / 4 < max_window_addresses ? limit / 4 : max_window_addresses;
}

/// Returns the bytes of a rank's window on a node with `ranks` ranks: twice the machine's memory, so that
/// fragmentation never fills it, if the addresses suffice.
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

/// Duplicates a descriptor, with close-on-exec, to a number out of the way of those that the program opens. Returns -1
/// with errno on failure.
inline int duplicate_high(int descriptor) {
    int const copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 64);
    return copy >= 0 ? copy : fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

/// Creates a file as long as a window, or as long as the system grants (sets `bytes`). Returns -1 if it grants none.
/// The file occupies memory only where touched.
inline int create_window_file(std::size_t& bytes) {
    int const made = create_memory_file("tutti-arena", MFD_CLOEXEC);
    if (made < 0) return -1;
    int const file = duplicate_high(made);
    close(made);
    std::uint64_t const limit = limit_on(RLIMIT_FSIZE);   // exceeding it raises a signal
    for (; file >= 0 && bytes >= min_window_bytes; bytes /= 2)
        if (bytes <= limit && ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
    if (file >= 0) close(file);
    return -1;
}

/// Reserves `bytes` unused addresses, a multiple of the huge page size, aligned to a huge page. Returns null if the
/// system refuses.
inline void* reserve_window(std::size_t bytes) {
    constexpr std::size_t page = huge_page_bytes;
    void* room = mmap(nullptr, bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return nullptr;
    auto const start = reinterpret_cast<std::uintptr_t>(room), at = (start + page - 1) / page * page;
    if (at != start) munmap(room, at - start);
    munmap(reinterpret_cast<void*>(at + bytes), start + page - at);   // never empty: `at` is less than a page further
    return reinterpret_cast<void*>(at);
}

/// Maps private memory that occupies nothing before it is touched. Returns null if the system refuses.
inline void* map_anonymous(std::size_t bytes, int access) {
    void* const room = mmap(nullptr, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room == MAP_FAILED ? nullptr : room;
}

/// Same, readable and writable, at addresses that are mapped already; replaces the mapping. Returns false if the system
/// refuses.
inline bool map_anonymous_at(void* first, std::size_t bytes) {
    return mmap(first, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
           MAP_FAILED;
}

/// Gives the kernel advice on memory. Results do not depend on it, so a refusal is not an error.
inline void advise(void* memory, std::size_t bytes, int advice) {
    int const before = errno;
    if (madvise(memory, bytes, advice) != 0) errno = before;
}

/// Maps the file from `offset` on at `window`, part of a reserved range. No byte is accessible before open_window,
/// and the window is excluded from core files: it is many times the machine's memory, and mlockall, a core file or a
/// checkpoint would touch all of it. Returns false if the system refuses.
inline bool map_window_at(void* window, int descriptor, off_t offset, std::size_t bytes, bool huge_pages) {
    if (mmap(window, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, descriptor, offset) == MAP_FAILED ||
        madvise(window, bytes, MADV_DONTDUMP) != 0)
        return false;
    if (huge_pages) advise(window, bytes, MADV_HUGEPAGE);
    return true;
}

/// Makes whole pages of a window accessible. Returns false if the system refuses.
inline bool open_window(void* first, std::size_t bytes) { return mprotect(first, bytes, PROT_READ | PROT_WRITE) == 0; }

/// Reserves and fills a window. Returns null if the system refuses. The caller unmaps it by munmap.
inline void* map_window(int descriptor, off_t offset, std::size_t bytes, bool huge_pages) {
    void* const window = reserve_window(bytes);
    if (!window || map_window_at(window, descriptor, offset, bytes, huge_pages)) return window;
    munmap(window, bytes);
    return nullptr;
}

}   // namespace tutti
