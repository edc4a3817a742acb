// SPDX-License-Identifier: BSD-3-Clause
// Mapping all arenas of the node.
#include "runtime/peer_arenas.hpp"

#include <sys/mman.h>

#include "runtime/map_window.hpp"

namespace tutti {

PeerArenas::~PeerArenas() {
    if (base_) munmap(base_, bytes_);
}

bool PeerArenas::map() {
    if (tried_) return base_ != nullptr;
    tried_ = true;
    SegmentHeader const& h = segment_.header();
    bytes_ = h.ranks * h.arena_bytes;
    if (bytes_ == 0) return false;
    void* p = map_window(segment_.descriptor(), static_cast<off_t>(h.arenas), bytes_, huge_pages_);
    if (!p) return false;
    madvise(p, bytes_, MADV_DONTDUMP);
    madvise(p, bytes_, MADV_DONTFORK);   // a child has no peers
    base_ = static_cast<std::byte*>(p);
    counters_.maps.add(1);
    return true;
}

std::byte* PeerArenas::at(unsigned peer, std::uint64_t address, std::size_t bytes) {
    Card const& card = segment_.card(peer);
    std::uint64_t const window = segment_.header().arena_bytes;
    if (!in_arena(card, window, address, bytes)) return nullptr;
    if (base_) counters_.hits.add(1);
    else if (!map()) return nullptr;
    return base_ + peer * window + (address - card.arena_base.load(std::memory_order_relaxed));
}

}  // namespace tutti
