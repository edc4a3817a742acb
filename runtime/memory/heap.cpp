// SPDX-License-Identifier: BSD-3-Clause
// First fit over a map of free pieces: a few blocks per communicator, never on a data path.
#include "runtime/memory/heap.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/base/error.hpp"
#include "runtime/base/limits.hpp"
#include "runtime/memory/placement.hpp"

namespace tutti {
namespace {

constexpr std::uint64_t page_bytes = 4096;
/// Zeroing a block of up to `small` bytes takes less time than returning its pages and getting them again (10
/// microseconds). A rank keeps up to `max_cached` bytes of such blocks.
constexpr std::uint64_t small = 16384, max_cached = 32768;

}   // namespace

SegmentHeap::SegmentHeap(Segment const& segment, unsigned rank) : segment_(segment), rank_(rank) {}

// One level at a time, because a process makes the memory of all ranks accessible up to the last level in use.
bool SegmentHeap::grow() {
    if (levels_ == segment_.heap_levels()) return false;
    auto const level = segment_.heap(rank_, levels_);
    free_.emplace(segment_.offset(level.data()), level.size());
    bytes_ += level.size();
    ++levels_;
    return true;
}

std::uint64_t SegmentHeap::allocate(std::uint64_t bytes) {
    collect();
    bytes = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    auto const same = std::ranges::find(cached_, bytes, &Blocks::value_type::second);
    if (same != cached_.end()) {
        cached_bytes_ -= bytes;
        return used_.insert(cached_.extract(same)).position->first;
    }
    if (auto const offset = allocate_from_free_list(bytes)) return *offset;
    while (!cached_.empty()) return_to_free_list(cached_.extract(cached_.begin()));
    cached_bytes_ = 0;
    do {
        if (auto const offset = allocate_from_free_list(bytes)) return *offset;
    } while (grow());
    fail(ErrorClass::no_mem, "this rank's part of the node's shared memory (", bytes_ >> 20,
         " MiB) cannot hold another ", bytes >> 10, " KiB: too many communicators exist",
         segment_.heap_levels() < segment_.layout().heap_levels() ? limit_behind(ENOMEM) : "");
}

std::optional<std::uint64_t> SegmentHeap::allocate_from_free_list(std::uint64_t bytes) {
    for (auto it = free_.begin(); it != free_.end(); ++it) {
        auto [offset, room] = *it;
        if (room < bytes) continue;
        used_.emplace(offset, bytes);   // may throw; nothing after it does
        auto piece = free_.extract(it);
        if (room == bytes) return offset;
        piece.key() = offset + bytes;
        piece.mapped() = room - bytes;
        free_.insert(std::move(piece));
        return offset;
    }
    return {};
}

void SegmentHeap::release(std::uint64_t offset) {
    auto piece = used_.extract(offset);   // becomes the kept or the free piece: nothing here may fail
    std::uint64_t const bytes = piece.mapped();
    // With several NUMA nodes, pages may lie on other nodes.
    if (bytes > small || cached_bytes_ + bytes > max_cached || places_memory(segment_))
        return return_to_free_list(std::move(piece));
    std::memset(segment_.at(offset), 0, bytes);
    cached_bytes_ += bytes;
    cached_.insert(std::move(piece));
}

void SegmentHeap::return_to_free_list(Blocks::node_type piece) {
    std::uint64_t const offset = piece.key();
    std::uint64_t bytes = piece.mapped();
    if (!segment_.punch_hole(offset, bytes)) std::memset(segment_.at(offset), 0, bytes);
    place(segment_, offset, bytes, numa_node_of(segment_, rank_));
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && next->first == offset + bytes) {
        bytes += next->second;
        next = free_.erase(next);
    }
    if (next != free_.begin()) {
        auto before = std::prev(next);
        if (before->first + before->second == offset) {
            before->second += bytes;
            return;
        }
    }
    piece.mapped() = bytes;
    free_.insert(std::move(piece));
}

void SegmentHeap::release_when(std::uint64_t offset, std::function<bool()> unused) {
    retired_.emplace_back(offset, std::move(unused));
}

void SegmentHeap::collect() {
    for (std::size_t i = 0; i < retired_.size();) {
        if (!retired_[i].second()) {
            ++i;
            continue;
        }
        release(retired_[i].first);
        retired_[i] = std::move(retired_.back());
        retired_.pop_back();
    }
}

}   // namespace tutti
