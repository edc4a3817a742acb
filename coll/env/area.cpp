// SPDX-License-Identifier: BSD-3-Clause
#include "coll/env/area.hpp"

#include <vector>

#include <sys/mman.h>

#include "runtime/base/error.hpp"
#include "runtime/memory/address_window.hpp"
#include "runtime/memory/placement.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {
namespace {

constexpr std::size_t max_populated_bytes = 1 << 20;   // bytes, of all members together

constexpr std::size_t whole_pages(std::size_t bytes) { return (bytes + area_page - 1) / area_page * area_page; }

/// Encodes the location of a region for publication: its distance from the area's beginning in pages, and the low 16
/// bits of the operation that its stamps count from. Never 0.
constexpr std::int64_t encode_location(std::ptrdiff_t distance, std::uint64_t first) {
    return distance / static_cast<std::ptrdiff_t>(area_page) * (1 << 16) + static_cast<std::int64_t>(first & 0xffff);
}
constexpr std::ptrdiff_t decode_distance(std::int64_t location) {
    return (location >> 16) * static_cast<std::ptrdiff_t>(area_page);
}

}   // namespace

// On a page of its own, a member's data has the same offsets as in an area with one member.
Area::Area(std::byte* base, int members, Process* process)
    : base_(base), process_(process), members_(members),
      by_member_(process && process->segment.layout().numa_nodes > 1), slot_bytes_(slot_size(members)) {
    std::size_t const interleaved = by_member_ ? 1 : static_cast<std::size_t>(members);
    first_channel_ = sizeof(Header) + interleaved * sizeof(Head);
    channel_distance_ = interleaved * sizeof(Channel);
    head_distance_ = by_member_ ? area_page : sizeof(Head);
    member_distance_ = by_member_ ? area_page : sizeof(Channel);
}

std::size_t Area::row_bytes(AreaRegion which, int members) {
    switch (which) {
    case AreaRegion::pairs: return channel_depth * pair_bytes(members);
    case AreaRegion::outer_levels: return channel_depth * outer_levels * sizeof(LevelFlags);
    case AreaRegion::small_slots: return channel_depth * small_slot_bytes;
    case AreaRegion::slots: return channel_depth * slot_size(members);
    case AreaRegion::records: return record_bytes;
    }
    return 0;
}

std::size_t Area::region_bytes(AreaRegion which, int members) {
    return whole_pages(static_cast<std::size_t>(members) * row_bytes(which, members));
}

Area::Area(std::byte* base, Group const& all, Process& process) : Area(base, all.size(), &process) { group_ = &all; }

void Area::place_pages() const { place_rows(base_, area_page); }

void Area::place_rows(std::byte* at, std::size_t bytes) const {
    if (!group_ || !places_memory(process_->segment)) return;
    std::vector<SegmentRange> rows;
    std::uint64_t offset = process_->segment.offset(at);
    for (int world : group_->world_ranks()) {
        auto const there = static_cast<unsigned>(process_->cluster.local_rank_of(world));
        rows.push_back({offset, bytes, numa_node_of(process_->segment, there)});
        offset += bytes;
    }
    tutti::place(process_->segment, rows);
}

std::size_t Area::bytes_of_regions(int members) {
    std::size_t sum = 0;
    for (int which = 0; which < area_regions; ++which) sum += region_bytes(static_cast<AreaRegion>(which), members);
    return sum;
}

void Area::set_region_memory(std::byte* memory) {
    for (int which = 0; which < area_regions; ++which) {
        regions_[which].data = memory;
        header().regions[which].store(encode_location(memory - base_, 0), std::memory_order_relaxed);
        memory += region_bytes(static_cast<AreaRegion>(which), members_);
    }
}

bool Area::find_region(AreaRegion which) const {
    RegionView& view = regions_[static_cast<int>(which)];
    if (view.data) return true;
    std::int64_t const there = header().regions[static_cast<int>(which)].load(std::memory_order_acquire);
    if (there == 0) return false;
    std::byte* const region = base_ + decode_distance(there);
    view.data = process_ ? process_->segment.at(process_->segment.offset(region)) : region;
    view.first = static_cast<std::uint64_t>(there) & 0xffff;
    return true;
}

// One call instead of sixteen page faults; a rank that reads a page of a row then has its neighbours mapped as well.
void Area::populate_slots() const {
    if (!group_ || base_ != process_->segment.world_area().data()) return;
    if (region_bytes(AreaRegion::slots, members_) > max_populated_bytes) return;
    std::size_t const row = row_bytes(AreaRegion::slots, members_);
    advise(slot(group_->rank(), 0, slot_bytes_), row, MADV_POPULATE_WRITE);
}

void Area::open_region(AreaRegion which, std::uint64_t op) const {
    find_or_allocate_region(which, op);
    if (which == AreaRegion::slots) populate_slots();
}

void Area::find_or_allocate_region(AreaRegion which, std::uint64_t op) const {
    if (find_region(which)) return;
    SegmentHeap& heap = process_->heap;
    std::uint64_t const offset = heap.allocate(region_bytes(which, members_));
    std::byte* const memory = process_->segment.at(offset);
    place_rows(memory, row_bytes(which, members_));
    header().outstanding_regions.fetch_add(1, std::memory_order_relaxed);
    std::int64_t unallocated = 0;
    std::int64_t const location = encode_location(memory - base_, op - channel_depth);
    if (header().regions[static_cast<int>(which)].compare_exchange_strong(unallocated, location,
                                                                          std::memory_order_acq_rel))
        regions_[static_cast<int>(which)].owned_offset = offset;
    else {
        header().outstanding_regions.fetch_sub(1, std::memory_order_relaxed);
        heap.release(offset);
    }
    find_region(which);
}

std::string Area::flag_name(std::atomic<std::uint64_t> const& flag, int member, int reader, std::uint64_t op) const {
    Channel const& own = channel(member, op);
    if (&flag == &own.cell.stamp) return "publish";
    if (&flag == &channel(reader, op).notified.value) return "notify";
    auto level_name = [&](LevelFlags const* levels, int count, int first) -> std::string {
        for (int i = 0; i < count; ++i)
            if (&flag == &levels[i].ready.value || &flag == &levels[i].ack.value)
                return join(&flag == &levels[i].ready.value ? "ready" : "ack", " of level ", first + i);
        return {};
    };
    if (std::string name = level_name(own.levels, inner_levels, 0); !name.empty()) return name;
    RegionView const &outer = regions_[static_cast<int>(AreaRegion::outer_levels)],
                     &pairs = regions_[static_cast<int>(AreaRegion::pairs)];
    if (outer.data)
        if (std::string name = level_name(outer_flags(outer, member, op), outer_levels, inner_levels); !name.empty())
            return name;
    if (!pairs.data) return {};
    for (int peer = 0; peer < members_; ++peer) {
        if (&flag == &pair_row(pairs, member, op)[peer]) return join("sent to rank ", peer);
        if (&flag == &pair_row(pairs, member, op)[members_ + peer]) return join("consumed from rank ", peer);
    }
    return {};
}

bool Area::is_drained() const {
    for (int m = 0; m < members_; ++m)
        if (done(m).read() != departed) return false;
    return true;
}

bool Area::is_unused() const {
    return is_drained() && header().outstanding_regions.load(std::memory_order_acquire) == 0;
}

bool Area::reclaim_region() const {
    if (!is_drained()) return false;
    header().outstanding_regions.fetch_sub(1, std::memory_order_release);
    return true;
}

void Area::refresh(int member, std::uint64_t op) const {
    std::uint64_t const fresh = stamp(op, 0);
    Channel& own = channel(member, op);
    own.cell.stamp.store(fresh, std::memory_order_relaxed);
    auto refresh_levels = [](LevelFlags* flags, int count, std::uint64_t to) {
        for (int level = 0; level < count; ++level) {
            flags[level].ready.value.store(to, std::memory_order_relaxed);
            flags[level].ack.value.store(to, std::memory_order_relaxed);
        }
    };
    refresh_levels(own.levels, inner_levels, fresh);
    // A peer that has begun the operation may write this flag concurrently.
    std::atomic<std::uint64_t>& notified = own.notified.value;
    for (std::uint64_t old = notified.load(std::memory_order_relaxed); !has_reached(old, fresh);)
        if (notified.compare_exchange_weak(old, fresh, std::memory_order_relaxed)) break;
    // A region that is published after this check is younger than the operation.
    if (find_region(AreaRegion::outer_levels)) {
        RegionView const& levels = regions_[static_cast<int>(AreaRegion::outer_levels)];
        refresh_levels(outer_flags(levels, member, op), outer_levels, stamp(op - levels.first, 0));
    }
    if (!find_region(AreaRegion::pairs)) return;
    RegionView const& pairs = regions_[static_cast<int>(AreaRegion::pairs)];
    for (int p = 0; p < 2 * members_; ++p)
        pair_row(pairs, member, op)[p].store(stamp(op - pairs.first, 0), std::memory_order_relaxed);
}

}   // namespace tutti::coll
