// SPDX-License-Identifier: BSD-3-Clause
// The arenas of all ranks of the node as this rank sees them: mapped together at the first use, and kept. A part of a
// window becomes accessible when this rank first reaches for bytes in it, so that mlockall and others that touch all
// of a process's memory do not fill the windows of its peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/memory/segment.hpp"

namespace tutti {

class PeerArenas {
public:
    PeerArenas(Segment const& segment, Counters& counters, bool huge_pages)
        : segment_(segment), counters_(counters), huge_pages_(huge_pages) {}
    ~PeerArenas();
    PeerArenas(PeerArenas const&) = delete;
    PeerArenas& operator=(PeerArenas const&) = delete;

    /// Maps everything unless that was done (or refused) before. False: this rank cannot reach any arena. All or
    /// nothing, because whoever calls its own memory direct promises to reach what its peers call so.
    bool map();
    /// Where this rank finds bytes that lie at `address` in the arena of the node's rank `peer`, in that rank's own
    /// address space. Null when they do not lie in its arena, or map() is false. Reading beyond what the owner has
    /// allocated is no fault.
    std::byte* at(unsigned peer, std::uint64_t address, std::size_t bytes);

private:
    /// What becomes accessible in one step.
    static constexpr std::size_t step_bytes = 4 << 20;
    struct Window {
        std::byte* base = nullptr;
        std::uint64_t bytes = 0;
        std::vector<std::uint64_t> accessible;   ///< a bit for each step
    };

    bool map_all();
    bool fill();
    bool fill_from_own_file(RankState const& peer, std::byte* window) const;
    static bool accessible(Window const& window, std::uint64_t first, std::uint64_t last);
    bool open(Window& window, std::uint64_t first, std::uint64_t last);

    Segment const& segment_;
    Counters& counters_;
    bool huge_pages_;
    std::byte* base_ = nullptr;
    std::size_t bytes_ = 0;
    std::vector<Window> windows_;   ///< of each rank, one behind the other
    bool tried_ = false;
};

/// Does [address, address + bytes) lie in the arena of the rank state's rank?
inline bool in_arena(RankState const& rank_state, std::uint64_t address, std::size_t bytes) {
    std::uint64_t const base = rank_state.arena_base.load(std::memory_order_acquire), offset = address - base,
                        window = rank_state.arena_bytes.load(std::memory_order_relaxed);
    return base != 0 && offset < window && bytes <= window - offset;
}

}   // namespace tutti
