// SPDX-License-Identifier: BSD-3-Clause
// Mapping a part of the segment's file so that huge pages can be used: only where address and offset agree in them.
// Without allocation and exceptions: the arena maps inside malloc.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/mman.h>

namespace tutti {

inline constexpr std::size_t huge_page_bytes = 2 << 20;

/// `bytes` bytes, whole huge pages, of the file from `offset` on, shared, at an address of whole huge pages. Null when
/// the system does not grant it. To be unmapped by munmap.
inline void* map_window(int descriptor, off_t offset, std::size_t bytes, bool huge_pages) {
    constexpr std::size_t page = huge_page_bytes;
    void* room = mmap(nullptr, bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return nullptr;
    auto const start = reinterpret_cast<std::uintptr_t>(room), at = (start + page - 1) / page * page;
    if (at != start) munmap(room, at - start);
    munmap(reinterpret_cast<void*>(at + bytes), start + page - at);   // never nothing: `at` is less than a page on
    void* const window = reinterpret_cast<void*>(at);
    if (mmap(window, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, descriptor, offset) ==
        MAP_FAILED) {
        munmap(window, bytes);
        return nullptr;
    }
    if (huge_pages) madvise(window, bytes, MADV_HUGEPAGE);
    return window;
}

}  // namespace tutti
