// SPDX-License-Identifier: BSD-3-Clause
// An arena for a rank that is a thread of a test: its window of the segment's file, mapped.
#pragma once

#include <span>
#include <stdexcept>

#include <sys/mman.h>

#include "runtime/memory/segment.hpp"

namespace tutti::coll::test {

/// A rank's arena window, mapped as a whole: nothing else may be within its addresses.
struct Window {
    Window(Segment const& segment, int rank)
        : rank_state(segment.rank_state(static_cast<unsigned>(rank))), bytes(segment.layout().arena_bytes) {
        void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, segment.descriptor(),
                       static_cast<off_t>(segment.arena(static_cast<unsigned>(rank))));
        if (p == MAP_FAILED) throw std::runtime_error("an arena's window cannot be mapped");
        room = {static_cast<std::byte*>(p), bytes};
        rank_state.arena_base = reinterpret_cast<std::uint64_t>(p);
    }
    ~Window() {
        rank_state.arena_base = 0;
        munmap(room.data(), bytes);
    }
    RankState& rank_state;
    std::size_t bytes;
    std::span<std::byte> room;
};

}   // namespace tutti::coll::test
