// SPDX-License-Identifier: BSD-3-Clause
// Mapping all arenas of the node.
#include "runtime/memory/peer_arenas.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/memory/map_window.hpp"

namespace tutti {

PeerArenas::~PeerArenas() {
    if (base_) munmap(base_, bytes_);
}

bool PeerArenas::map() {
    if (tried_) return base_ != nullptr;
    tried_ = true;
    if (map_all()) return true;
    segment_.header().arenas_refused.store(1, std::memory_order_relaxed);
    return false;
}

bool PeerArenas::map_all() {
    for (unsigned rank = 0; rank < segment_.ranks(); ++rank) bytes_ += segment_.rank_state(rank).arena_bytes.load();
    if (bytes_ == 0) return false;
    base_ = static_cast<std::byte*>(reserve_window(bytes_));
    if (!base_) return false;
    if (!fill()) {
        munmap(base_, bytes_);
        return base_ = nullptr, false;
    }
    madvise(base_, bytes_, MADV_DONTDUMP);
    madvise(base_, bytes_, MADV_DONTFORK);   // a child has no peers
    counters_.maps.add(1);
    return true;
}

bool PeerArenas::fill() {
    SegmentHeader const& h = segment_.header();
    std::byte* next = base_;
    for (unsigned rank = 0; rank < h.ranks; ++rank) {
        RankState const& rank_state = segment_.rank_state(rank);
        windows_.push_back(next);
        if (h.arena_bytes == 0 && !fill_from_own_file(rank_state, next)) return false;
        next += rank_state.arena_bytes.load();
    }
    return h.arena_bytes == 0 ||
           fill_window(base_, segment_.descriptor(), static_cast<off_t>(h.arenas), bytes_, huge_pages_);
}

bool PeerArenas::fill_from_own_file(RankState const& peer, std::byte* window) const {
    std::uint64_t const bytes = peer.arena_bytes.load();
    if (bytes == 0) return true;
    int const descriptor = open_memory_file(peer.arena_file);
    if (descriptor < 0) return false;
    bool const filled = fill_window(window, descriptor, 0, bytes, huge_pages_);
    close(descriptor);
    return filled;
}

std::byte* PeerArenas::at(unsigned peer, std::uint64_t address, std::size_t bytes) {
    RankState const& rank_state = segment_.rank_state(peer);
    if (!in_arena(rank_state, address, bytes)) return nullptr;
    if (base_) counters_.hits.add(1);
    else if (!map()) return nullptr;
    return windows_[peer] + (address - rank_state.arena_base.load(std::memory_order_relaxed));
}

}   // namespace tutti
