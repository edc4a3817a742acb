// SPDX-License-Identifier: BSD-3-Clause
// The arenas of all ranks of the node as this rank sees them: mapped together at the first use, and kept. A part of a
// window becomes accessible when this rank first accesses bytes in it, so that mlockall and other operations that
// touch all of a process's memory do not fill the windows of its peers.
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

    /// Maps all arenas unless that has been done (or refused) before. Returns false if this rank cannot access any
    /// arena. All or nothing, because a rank that exposes its own memory as directly accessible promises that it can
    /// access its peers' directly accessible memory.
    bool map();
    /// Returns the local address of bytes that lie at `address` in the arena of local rank `peer`, in that rank's own
    /// address space. Returns null if they do not lie in its arena, or if map() is false. Reading beyond the owner's
    /// allocations causes no fault.
    std::byte* at(unsigned peer, std::uint64_t address, std::size_t bytes);

private:
    /// Granularity in which windows become accessible.
    static constexpr std::size_t step_bytes = 4 << 20;
    struct Window {
        std::byte* base = nullptr;
        std::uint64_t bytes = 0;
        std::vector<std::uint64_t> accessible;   ///< one bit per step
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
    std::vector<Window> windows_;   ///< one per rank, consecutive in memory
    bool tried_ = false;
};

/// Returns true if [address, address + bytes) lies in the arena of the rank that owns `rank_state`.
inline bool in_arena(RankState const& rank_state, std::uint64_t address, std::size_t bytes) {
    std::uint64_t const base = rank_state.arena_base.load(std::memory_order_acquire), offset = address - base,
                        window = rank_state.arena_bytes.load(std::memory_order_relaxed);
    return base != 0 && offset < window && bytes <= window - offset;
}

}   // namespace tutti
