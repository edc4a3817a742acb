// SPDX-License-Identifier: BSD-3-Clause
// Maps the arenas of all ranks of the node.
#include "runtime/memory/peer_arenas.hpp"

#include <algorithm>

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/memory/address_window.hpp"

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
    advise(base_, bytes_, MADV_DONTFORK);   // a child has no peers
    counters_.maps.add(1);
    return true;
}

bool PeerArenas::fill() {
    SegmentLayout const& h = segment_.layout();
    std::byte* next = base_;
    for (unsigned rank = 0; rank < h.ranks; ++rank) {
        RankState const& rank_state = segment_.rank_state(rank);
        std::uint64_t const bytes = rank_state.arena_bytes.load();
        windows_.push_back({next, bytes, std::vector<std::uint64_t>(bytes / step_bytes / 64 + 1)});
        if (h.arena_bytes == 0 && !fill_from_own_file(rank_state, next)) return false;
        next += bytes;
    }
    return h.arena_bytes == 0 ||
           map_window_at(base_, segment_.descriptor(), static_cast<off_t>(h.arenas), bytes_, huge_pages_);
}

bool PeerArenas::fill_from_own_file(RankState const& peer, std::byte* window) const {
    std::uint64_t const bytes = peer.arena_bytes.load();
    if (bytes == 0) return true;
    int const descriptor = open_memory_file(peer.arena_file);
    if (descriptor < 0) return false;
    bool const filled = map_window_at(window, descriptor, 0, bytes, huge_pages_);
    close(descriptor);
    return filled;
}

std::byte* PeerArenas::at(unsigned peer, std::uint64_t address, std::size_t bytes) {
    RankState const& rank_state = segment_.rank_state(peer);
    if (!in_arena(rank_state, address, bytes)) return nullptr;
    if (base_) counters_.hits.add(1);
    else if (!map()) return nullptr;
    Window& window = windows_[peer];
    std::uint64_t const offset = address - rank_state.arena_base.load(std::memory_order_relaxed),
                        first = offset / step_bytes, last = (offset + (bytes != 0 ? bytes - 1 : 0)) / step_bytes;
    return accessible(window, first, last) || open(window, first, last) ? window.base + offset : nullptr;
}

bool PeerArenas::accessible(Window const& window, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t step = first; step <= last;) {
        std::uint64_t const end = std::min(last + 1, (step / 64 + 1) * 64), n = end - step;
        std::uint64_t const wanted = (n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1) << step % 64;
        if ((window.accessible[step / 64] & wanted) != wanted) return false;
        step = end;
    }
    return true;
}

bool PeerArenas::open(Window& window, std::uint64_t first, std::uint64_t last) {
    auto const make = [&](std::uint64_t from, std::uint64_t to) {
        std::uint64_t const begin = from * step_bytes, end = std::min((to + 1) * step_bytes, window.bytes);
        if (!open_window(window.base + begin, end - begin)) return false;
        for (std::uint64_t step = from; step <= to; ++step)
            window.accessible[step / 64] |= std::uint64_t{1} << step % 64;
        return true;
    };
    // If the system grants no more mappings, the whole window becomes one.
    return make(first, last) || make(0, (window.bytes - 1) / step_bytes);
}

}   // namespace tutti
