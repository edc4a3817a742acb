// SPDX-License-Identifier: BSD-3-Clause
// The shared memory of one operation sequence (of a communicator or a persistent request) in the node segment: flags,
// one page per member, and on demand five regions: pair counters, flags of outer levels, small slots (one page per
// member for all channels together), slots, and call records (coll/match). Pages that no rank has touched take no
// memory; fresh pages are zero, which is the initial state of every flag.
//
// Layout: flags and small slots are ordered by channel, and within a channel by member. A communicator that is used
// once touches an eighth of them, and a rank that reads the flags of hundreds of members reads few pages. If memory is
// placed on several NUMA nodes, they are ordered by member instead, because a page lies on one NUMA node.
//
// Operation number n (1, 2, …, the same at all members) uses channel n mod depth. Every flag is written by its member
// only (except that of `notify`, counters and the words of shared work, see env.hpp) and counts up: stamp(n, step)
// grows with n and with the step; flags are never reset.
//
// Why the counters do not overflow: 44 bits count the steps of a phase (Environment::begin_phase), each of which moves
// at least one byte, and 4 bits the phases. The remaining 16 bits hold the operation number and wrap. Stamps are
// compared by their difference, which is correct as long as they are fewer than 2^15 operations apart. This holds
// because in every `refresh_period` operations each channel has one operation before which each member sets the flags
// that it owns to that operation's number, after the channel has become free and before the member begins the
// operation. A flag that a rank waits for is therefore never staler than refresh_period plus the depth.
//
// Why reuse is safe: a member starts operation n only when every member's `done` has reached n − depth, that is, when
// no rank reads channel n mod depth for operation n − depth any more. A member publishes `done` (release) after its
// last read of other members' memory in that operation; the reader loads it (acquire) before the first write of the new
// operation. A rank that runs ahead (the root of a broadcast, a leaf of a gather) therefore stops at most `depth`
// operations ahead of the slowest.
//
// Why a region may be allocated late: the first rank that needs it allocates zeroed memory for all members and
// publishes it by compare-and-swap (release; other ranks acquire); a rank that loses the race releases its own
// allocation. The stamps of the region's flags count from operation `first` = n − depth of the rank that allocated it,
// so that zero means "operation first". Operation n has begun, so every operation in progress is later than `first`.
//
// Lifetime: an allocation returns to its owner's heap only after every member has left, and the allocation of the pages
// only after the regions have been released too. A rank counts a region (`outstanding_regions`) before it publishes it,
// and hence before it leaves; when it reclaims the region, it reads the pages for the last time before it decrements
// the count (release; the owner of the pages acquires).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "coll/env/arguments.hpp"
#include "runtime/base/flag.hpp"
#include "runtime/memory/single_copy.hpp"

namespace tutti {
class Group;
class Process;
}   // namespace tutti

namespace tutti::coll {

inline constexpr std::size_t area_page = 4096;
inline constexpr int channel_depth = 8;                                ///< maximum number of concurrent operations
inline constexpr int max_phases = 16;                                  ///< of an operation
inline constexpr std::uint64_t phase_steps = std::uint64_t{1} << 44;   ///< between one phase and the next
inline constexpr std::uint64_t max_step = phase_steps - 1;             ///< the largest step of a phase
inline constexpr std::uint64_t refresh_period = 1 << 14;               ///< operations

/// Value for an awaited peer: any of several ranks may perform the step that is awaited.
inline constexpr int any_peer = -1;

/// The value of a flag at `step` of operation `op`.
constexpr std::uint64_t stamp(std::uint64_t op, std::uint64_t step) { return op << 48 | step; }
/// True if a flag has reached the awaited value. Both are stamps, or both count from 0 and stay below 2^63.
constexpr bool has_reached(std::uint64_t value, std::uint64_t awaited) {
    return static_cast<std::int64_t>(value - awaited) >= 0;
}

/// Several events, any of which ends a wait. The condition reads flags with acquire, and otherwise only what this rank
/// changes itself; it must stay valid during the wait.
struct Events {
    template <class Condition>
    static Events of(Condition const& condition) {
        return {[](void const* c) -> bool { return (*static_cast<Condition const*>(c))(); }, &condition};
    }
    bool occurred() const { return any(condition); }

    bool (*any)(void const* condition) = nullptr;
    void const* condition = nullptr;
};

/// What a member exposes to its peers in one operation; valid for them once they have seen the stamp of its cell.
struct alignas(cache_line) Exposure {
    static constexpr std::uint64_t contiguous = ~std::uint64_t{0};

    std::uint64_t address;      ///< in the member's address space: first byte or, with gaps, origin of the elements
    std::uint64_t staging;      ///< offset of its staging memory in the segment
    std::uint64_t bytes;        ///< length of the data
    std::uint64_t layout;       ///< contiguous, or the offset in staging memory at which the datatype is described
    AccessPath access;          ///< to everything that is exposed
    std::uint64_t result = 0;   ///< first byte of a second buffer, which peers store to (expose_both)
};

/// Shared memory of a member for one operation.
struct StagingMemory {
    std::uint64_t offset = 0;   ///< in the segment
    std::size_t bytes = 0;      ///< 0: none
};

/// A flag with room for a small payload on its own line: an 8-byte message moves one cache line.
struct alignas(cache_line) Cell {
    static constexpr std::size_t inline_bytes = 56;
    std::atomic<std::uint64_t> stamp;
    std::byte payload[inline_bytes];
};

/// Size of a small slot: those of all channels of a member fill one page.
inline constexpr std::size_t small_slot_bytes = area_page / channel_depth;

/// Bytes of a member's MemberRecords (coll/match/call_record.hpp).
inline constexpr std::size_t record_bytes = 1024 + 2048 + cache_line;

/// Bytes available for a member's FirstRecords (coll/match/call_record.hpp).
inline constexpr std::size_t first_records_bytes = 2 * cache_line;

inline constexpr int inner_levels = 2;   ///< levels whose flags every member has from the start

struct LevelFlags {
    Flag ready, ack;
};

/// The cell, the exposure and the flags of one member for one channel.
struct Channel {
    Cell cell;
    Exposure exposure;
    LevelFlags levels[inner_levels];
    Flag notified;
};

/// The regions that an area allocates at first use.
enum class AreaRegion { pairs, outer_levels, small_slots, slots, records };
inline constexpr int area_regions = 5;

/// A rank's view of this memory. The views of all members have the same shape, each at its own address.
class Area {
public:
    /// A flag of an operation. `op` is the operation's number as this flag counts it.
    struct Word {
        std::atomic<std::uint64_t>& value;
        std::uint64_t op;
    };

    Area() = default;
    /// `base`: zeroed, except for what `place_pages` has written. `process`: allocates regions from its heap; if null,
    /// see set_region_memory.
    Area(std::byte* base, int members, Process* process = nullptr);
    /// The area of a communicator whose members are `all`, in that order. `all` must be valid in every use of the
    /// view except leaving.
    Area(std::byte* base, Group const& all, Process& process);

    /// Bytes of an area for `members` members, without regions.
    static constexpr std::size_t bytes(int members) { return static_cast<std::size_t>(members) * area_page; }
    /// Called by the rank that has allocated the area, before any other rank knows it: places each member's page on the
    /// NUMA node where the member runs.
    void place_pages() const;
    /// True if the pages may return to their owner's heap. Called by the owner after it has left.
    bool is_unused() const;
    /// True if this rank's region may return to its heap. Called after this rank has left; must not be called again
    /// once it has returned true.
    bool reclaim_region() const;

    static std::size_t bytes_of_regions(int members);
    /// Instead of allocation on demand: places all regions in `memory`, which must be zeroed.
    void set_region_memory(std::byte* memory);
    /// Returns the offset in this rank's heap of a region that this rank must release, or 0 if there is none.
    std::uint64_t owned_region_offset(int region) const { return regions_[region].owned_offset; }

    /// False for a view without memory: the members of the communicator share none.
    explicit operator bool() const { return base_ != nullptr; }
    int members() const { return members_; }
    std::size_t slot_bytes() const { return slot_bytes_; }

    /// Highest operation that the member has completed, including all earlier ones; `departed` after it has left for
    /// good.
    Flag& done(int member) const { return head(member).done; }
    static constexpr std::uint64_t departed = ~std::uint64_t{0} >> 1;

    /// Records that a member could not continue an operation. Any member may call it, several at the same time. A
    /// member that fails because another one has failed keeps that member's number.
    void fail(int member, std::uint64_t op) const {
        if (failed(op)) return;
        failure(op).member.store(member, std::memory_order_relaxed);
        failure(op).op.store(op, std::memory_order_release);
    }
    bool failed(std::uint64_t op) const { return failure(op).op.load(std::memory_order_acquire) == op; }
    /// Returns one of the members that failed.
    int failed_rank(std::uint64_t op) const { return failure(op).member.load(std::memory_order_relaxed); }

    /// Called by each member when the operation's channel is free and before it begins the operation.
    void enter(int member, std::uint64_t op) const {
        if (op % refresh_period < channel_depth) [[unlikely]]
            refresh(member, op);
    }
    Channel& channel(int member, std::uint64_t op) const {
        return *reinterpret_cast<Channel*>(base_ + first_channel_ + op % channel_depth * channel_distance_ +
                                           static_cast<std::size_t>(member) * member_distance_);
    }
    /// Distance in bytes from the channel of one member to that of the next, in the same operation.
    std::size_t member_distance() const { return member_distance_; }
    Word ready(int member, std::uint64_t op, int level) const {
        if (level >= inner_levels) [[unlikely]]
            return outer(member, op, level, &LevelFlags::ready);
        return {channel(member, op).levels[level].ready.value, op};
    }
    Word ack(int member, std::uint64_t op, int level) const {
        if (level >= inner_levels) [[unlikely]]
            return outer(member, op, level, &LevelFlags::ack);
        return {channel(member, op).levels[level].ack.value, op};
    }
    /// A word beside `member` that only one peer writes in an operation.
    Word notified(int member, std::uint64_t op) const { return {channel(member, op).notified.value, op}; }
    /// Counters for transfers between pairs: what `member` has written for `peer`, or read from it.
    Word sent(int member, std::uint64_t op, int peer) const { return pair(member, op, peer); }
    Word consumed(int member, std::uint64_t op, int peer) const { return pair(member, op, members_ + peer); }
    /// Where the member records the calls of its program (coll/match/call_record.hpp): record_bytes, on cache lines of
    /// their own. The first call throws Error(no_mem) if no memory is left.
    std::byte* records(int member) const {
        return region(AreaRegion::records, channel_depth).data + static_cast<std::size_t>(member) * record_bytes;
    }
    /// Where the member records its first calls: lines beside its flags, so that a communicator that is used only a few
    /// times needs no memory for records.
    std::byte* first_records(int member) const { return head(member).first_records; }
    /// Called by a member that has recorded a call.
    void mark_called() const {
        if (!has_calls()) header().called.store(1, std::memory_order_relaxed);
    }
    /// True if any member has recorded a call.
    bool has_calls() const { return header().called.load(std::memory_order_relaxed) != 0; }
    /// See Environment::loading_agreed.
    std::uint64_t& loading_agreed() const { return loading_agreed_; }
    /// True if any member has records beyond its first calls.
    bool has_records() const { return find_region(AreaRegion::records); }
    /// Returns the slot for `bytes` bytes: reader and writer must pass the same size.
    std::byte* slot(int member, std::uint64_t op, std::size_t bytes) const {
        if (bytes <= small_slot_bytes)
            return region(AreaRegion::small_slots, op).data + part_index(member, op) * small_slot_bytes;
        return region(AreaRegion::slots, op).data +
               (static_cast<std::size_t>(member) * channel_depth + op % channel_depth) * slot_bytes_;
    }
    /// Returns the name of a flag of operation `op` that `member` writes and `reader` reads, as the functions of
    /// Environment call it: "publish", "ready of level 1", "sent to rank 3"; empty if it is no such flag.
    std::string flag_name(std::atomic<std::uint64_t> const& flag, int member, int reader, std::uint64_t op) const;
    /// Distance in bytes from the slot of one member to that of the next.
    std::size_t slot_distance(std::size_t bytes) const {
        return bytes <= small_slot_bytes ? part_index(1, 0) * small_slot_bytes : channel_depth * slot_bytes_;
    }

private:
    /// A failed operation, one entry per channel.
    struct Failure {
        std::atomic<std::uint64_t> op;
        std::atomic<int> member;
    };
    /// The header of the whole area, at its beginning.
    struct alignas(cache_line) Header {
        std::atomic<std::int64_t> regions[area_regions];   ///< encoded, see area.cpp; 0: not allocated yet
        std::atomic<int> outstanding_regions;              ///< number of regions that their owners have not reclaimed
        std::atomic<int> called;                           ///< 1: a member has recorded a call (coll/match)
        Failure failures[channel_depth];
    };
    /// A member's data that all operations share.
    struct Head {
        Flag done;
        alignas(cache_line) std::byte first_records[first_records_bytes];
    };
    static_assert(sizeof(Header) + sizeof(Head) + channel_depth * sizeof(Channel) <= area_page);
    /// A region in this rank's address space.
    struct RegionView {
        std::byte* data = nullptr;
        std::uint64_t first = 0;          ///< the stamps of its flags count from this operation, modulo 2^16
        std::uint64_t owned_offset = 0;   ///< offset in this rank's heap if this rank allocated it, else 0
    };

    Head& head(int member) const {
        return *reinterpret_cast<Head*>(base_ + sizeof(Header) + static_cast<std::size_t>(member) * head_distance_);
    }
    Header& header() const { return *reinterpret_cast<Header*>(base_); }
    Failure& failure(std::uint64_t op) const { return header().failures[op % channel_depth]; }
    bool is_drained() const;
    void refresh(int member, std::uint64_t op) const;
    /// Index of a member's part of a channel, in a region that has one part for each.
    std::size_t part_index(int member, std::uint64_t op) const {
        auto const m = static_cast<std::size_t>(member), channel = static_cast<std::size_t>(op % channel_depth);
        return by_member_ ? m * channel_depth + channel : channel * static_cast<std::size_t>(members_) + m;
    }

    RegionView const& region(AreaRegion which, std::uint64_t op) const {
        RegionView& view = regions_[static_cast<int>(which)];
        if (!view.data) [[unlikely]]
            open_region(which, op);
        return view;
    }
    /// Maps the region if it has been allocated. Returns false otherwise.
    bool find_region(AreaRegion which) const;
    /// Maps or allocates the region, for operation `op`, which has begun. Throws Error(no_mem).
    void open_region(AreaRegion which, std::uint64_t op) const;
    void find_or_allocate_region(AreaRegion which, std::uint64_t op) const;
    /// Bytes of a region per member, and in total.
    static std::size_t row_bytes(AreaRegion which, int members);
    static std::size_t region_bytes(AreaRegion which, int members);
    /// Places the rows of a region, or of the area itself, on the members' NUMA nodes: `bytes` per member, from `at`
    /// on.
    void place_rows(std::byte* at, std::size_t bytes) const;
    /// Populates this member's slots in a small world at their first use, so that its first calls take few page faults.
    void populate_slots() const;

    std::atomic<std::uint64_t>* pair_row(RegionView const& pairs, int member, std::uint64_t op) const {
        return reinterpret_cast<std::atomic<std::uint64_t>*>(pairs.data +
                                                             part_index(member, op) * pair_bytes(members_));
    }
    Word pair(int member, std::uint64_t op, int at) const {
        RegionView const& pairs = region(AreaRegion::pairs, op);
        return {pair_row(pairs, member, op)[at], op - pairs.first};
    }
    static constexpr int outer_levels = max_levels - inner_levels;
    LevelFlags* outer_flags(RegionView const& levels, int member, std::uint64_t op) const {
        return reinterpret_cast<LevelFlags*>(levels.data) + part_index(member, op) * outer_levels;
    }
    Word outer(int member, std::uint64_t op, int level, Flag LevelFlags::*flag) const {
        RegionView const& levels = region(AreaRegion::outer_levels, op);
        return {(outer_flags(levels, member, op)[level - inner_levels].*flag).value, op - levels.first};
    }
    static std::size_t pair_bytes(int members) {
        return (static_cast<std::size_t>(members) * 16 + cache_line - 1) / cache_line * cache_line;
    }
    /// Areas of many members have smaller slots, but each slot has room for a table of 24 bytes per member.
    static std::size_t slot_size(int members) {
        return members <= 32 ? 8192 : members <= 170 ? 4096 : (static_cast<std::size_t>(members) * 24 + 63) / 64 * 64;
    }

    std::byte* base_ = nullptr;
    Process* process_ = nullptr;
    Group const* group_ = nullptr;
    int members_ = 0;
    bool by_member_ = false;   ///< all data of a member is contiguous, on pages of its own
    std::size_t slot_bytes_ = 0;
    std::size_t head_distance_ = 0, first_channel_ = 0, channel_distance_ = 0, member_distance_ = 0;
    mutable RegionView regions_[area_regions];   ///< regions mapped so far; a view belongs to one rank
    mutable std::uint64_t loading_agreed_ = 0;
};

}   // namespace tutti::coll
