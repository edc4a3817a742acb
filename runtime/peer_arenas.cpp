// SPDX-License-Identifier: BSD-3-Clause
// Mapping all arenas of the node.
#include "runtime/peer_arenas.hpp"

#include <sys/mman.h>

namespace tutti {
namespace {

constexpr std::uint64_t huge_page = 2 << 20;

}  // namespace

PeerArenas::~PeerArenas() {
    if (reserved_) munmap(reserved_, reserved_bytes_);
}

bool PeerArenas::map() {
    if (tried_) return base_ != nullptr;
    tried_ = true;
    SegmentHeader const& h = segment_.header();
    std::size_t const bytes = h.ranks * h.arena_bytes;
    if (bytes == 0) return false;
    // Huge pages can be used only where address and offset in the file agree.
    void* room = mmap(nullptr, bytes + huge_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return false;
    reserved_ = room;
    reserved_bytes_ = bytes + huge_page;
    auto at = (reinterpret_cast<std::uint64_t>(room) + huge_page - 1) / huge_page * huge_page;
    void* p = mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                   segment_.descriptor(), static_cast<off_t>(h.arenas));
    if (p == MAP_FAILED) return false;
    madvise(p, bytes, MADV_HUGEPAGE);
    madvise(p, bytes, MADV_DONTDUMP);
    madvise(p, bytes, MADV_DONTFORK);   // a child has no peers
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
