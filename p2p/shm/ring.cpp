// SPDX-License-Identifier: BSD-3-Clause
// The rare half of the rings: finding room, telling what was consumed.
#include "p2p/shm/ring.hpp"

namespace tutti::p2p {

bool Outbox::refresh_cells(std::size_t n) {
    cells_freed_ = consumed().cells.load(std::memory_order_acquire);
    return next_ + n <= cells_freed_ + layout_->cells;
}

bool Outbox::refresh_matched(std::size_t bytes) {
    matched_ = consumed().matched.load(std::memory_order_relaxed);
    return spent_ + cost(bytes) - matched_ <= eager_budget;
}

std::byte* Outbox::place(std::size_t bytes, Remote& remote) {
    std::size_t taken = (bytes + cache_line - 1) / cache_line * cache_line;
    bool wraps = byte_offset_ + taken > layout_->capacity;
    std::size_t gap = wraps ? layout_->capacity - byte_offset_ : 0;   // 0 also where the last piece ended at the end
    std::uint64_t end = byte_position_ + gap + taken;
    if (end > bytes_freed_ + layout_->capacity) {
        bytes_freed_ = consumed().bytes.load(std::memory_order_acquire);
        if (end > bytes_freed_ + layout_->capacity) return nullptr;
    }
    if (wraps) byte_offset_ = 0;
    remote.offset = static_cast<std::uint32_t>(byte_offset_);
    remote.bytes = static_cast<std::uint32_t>(bytes);
    remote.end = byte_position_ = end;
    byte_offset_ += taken;
    return memory_ + layout_->bytes_at + remote.offset;
}

void Inbox::tell() {
    auto& consumed = *reinterpret_cast<Consumed*>(memory_);
    consumed.cells.store(cells_told_ = next_, std::memory_order_release);
    consumed.bytes.store(bytes_told_ = bytes_, std::memory_order_release);
    consumed.matched.store(matched_told_ = matched_, std::memory_order_relaxed);
}

}   // namespace tutti::p2p
