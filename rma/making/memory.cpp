// SPDX-License-Identifier: BSD-3-Clause
// Where windows get their memory.
#include "rma/making/memory.hpp"

#include <cstring>

#include "runtime/base/error.hpp"
#include "runtime/memory/map_window.hpp"
#include "runtime/memory/placement/placement.hpp"

namespace tutti::rma {

bool allocate_memory(Window& window, std::int64_t wanted, bool from_arena) {
    Process& process = window.process;
    std::size_t const bytes = block_bytes(wanted);
    if (from_arena && process.arena) {
        window.own_memory = bytes < huge_page_bytes ? process.arena->allocate_zeroed(bytes)
                                                    : process.arena->allocate(bytes, huge_page_bytes);
        if (window.own_memory && bytes >= huge_page_bytes) std::memset(window.own_memory, 0, bytes);
        window.base = window.own_memory;
    }
    if (window.own_memory) return true;
    try {
        window.own_segment = process.heap.allocate(bytes);
    } catch (Error const&) { return false; }
    window.base = process.segment.at(window.own_segment);
    return true;
}

void release_memory(Window& window) {
    if (window.own_memory) window.process.arena->release(window.own_memory);
    if (window.own_segment) window.process.heap.release(window.own_segment);
    window.own_memory = nullptr;
    window.own_segment = 0;
}

void place_part(Window& window) {
    Segment const& segment = window.process.segment;
    int const node = numa_node_of(segment, window.process.place());
    if (!places_memory(segment) || node < 0) return;
    auto const begin = reinterpret_cast<std::uintptr_t>(window.base),
               first = (begin + numa_page - 1) / numa_page * numa_page,
               end = (begin + static_cast<std::uintptr_t>(window.bytes)) / numa_page * numa_page;
    if (first < end) segment.numa()->move(reinterpret_cast<std::byte*>(first), end - first, node);
}

}   // namespace tutti::rma
