// SPDX-License-Identifier: BSD-3-Clause
// The memory of a sequence of operations in the node segment, a communicator's or a persistent request's: flags, a page
// per member, and on demand five regions: counters of pairs, flags of outer levels, small slots (as large as a page per
// member for those of all channels), slots, records of calls (coll/match). Pages that no rank has touched take no
// memory; fresh ones are zero, which is every flag's first state.
//
// Flags and small slots lie channel by channel, in a channel member by member: a communicator that is used once takes
// an eighth of them, and who reads those of hundreds reads few pages. Where memory is placed on several NUMA nodes they
// lie member by member, for a page lies on one node.
//
// Operation number n (1, 2, …, the same for all members) uses channel n mod depth. Every flag is written by its member
// alone (but see `hand`, env.hpp) and counts up: stamp(n, step) grows with n and with the step; nothing is ever reset.
//
// Why neither runs out: a step moves a byte at least, so one operation has fewer steps than an address space has bytes,
// and 48 bits hold them. Of the number 16 bits are left, which wrap: stamps are compared by their difference, which is
// right while they are fewer than 2^15 operations apart. So they are: of every `refresh_period` operations each channel
// has one before which each member brings the flags that it owns to that operation's number, once the channel is free
// and before it begins the operation itself. A flag that somebody waits for is never staler than that and the depth.
//
// Why reuse is safe: a member starts operation n only when every member's `done` has reached n − depth, that is, when
// nobody reads channel n mod depth for operation n − depth any more; `done` is published (release) after the member's
// last read of others' memory in that operation and read (acquire) before the first write of the new one. Who runs
// ahead (a broadcast's root, a gather's leaf) therefore stops at most `depth` operations ahead of the slowest.
//
// Why a region may come late: who needs it first takes zeroed memory for all members and shows it by compare-and-swap
// (release; others acquire); who loses gives its own back. Its flags' stamps count from the operation `first` =
// n − depth of whoever made it, so that zero says "operation first": n has begun, so every operation still under way is
// a later one.
//
// Why nobody looks at memory that has gone back: each allocation goes back to its owner's heap when all members have
// left, and of these the page's only when the regions have gone: who shows a region counts it first (`lent`), before it
// leaves itself; whoever takes it back looks at the pages for the last time before it takes it off the count (release;
// the pages' owner acquires).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "coll/env/parameter.hpp"
#include "runtime/base/flag.hpp"
#include "runtime/memory/single_copy.hpp"

namespace tutti {
class Group;
class Process;
}   // namespace tutti

namespace tutti::coll {

inline constexpr std::size_t area_page = 4096;
inline constexpr int channel_depth = 8;   ///< operations that may be under way at once
inline constexpr std::uint64_t last_step = (std::uint64_t{1} << 48) - 1;
inline constexpr std::uint64_t refresh_period = 1 << 14;   ///< operations

/// The value of a flag at `step` of operation `op`.
constexpr std::uint64_t stamp(std::uint64_t op, std::uint64_t step) { return op << 48 | step; }
/// Has a flag come to what is waited for? Both are stamps, or both count from 0 and stay below 2^63.
constexpr bool has_come(std::uint64_t value, std::uint64_t awaited) {
    return static_cast<std::int64_t>(value - awaited) >= 0;
}

/// What a member shows its peers in one operation; valid for them once they have seen its cell's stamp.
struct alignas(cache_line) Exposure {
    static constexpr std::uint64_t one_piece = ~std::uint64_t{0};

    std::uint64_t address;      ///< in the member's own address space: the first byte; with gaps: the elements' origin
    std::uint64_t staging;      ///< offset of its staging memory in the segment
    std::uint64_t bytes;        ///< of data
    std::uint64_t layout;       ///< one_piece, or where in the staging memory the datatype is written down
    AccessPath way;             ///< to all that is shown
    std::uint64_t result = 0;   ///< a second buffer's first byte, which peers store to (expose_both)
};

/// A flag with room for a small payload on its own line: an 8-byte message is one line moved.
struct alignas(cache_line) Cell {
    static constexpr std::size_t inline_bytes = 56;
    std::atomic<std::uint64_t> stamp;
    std::byte payload[inline_bytes];
};

inline constexpr std::size_t small_slot_bytes = area_page / channel_depth;

inline constexpr std::size_t record_bytes = 1024 + 2048 + cache_line;

inline constexpr std::size_t first_records_bytes = 2 * cache_line;

inline constexpr int inner_levels = 2;   ///< whose flags every member has from the start

struct LevelFlags {
    Flag ready, ack;
};

struct Channel {
    Cell cell;
    Exposure exposure;
    LevelFlags levels[inner_levels];
    Flag handed;
};

/// What an area gets when it is first used.
enum class AreaRegion { pairs, outer_levels, small_slots, slots, records };
inline constexpr int area_regions = 5;

/// A view of such memory; every member's view has the same shape, at its own address.
class Area {
public:
    /// A flag of an operation, which has that number where the flag lies.
    struct Word {
        std::atomic<std::uint64_t>& value;
        std::uint64_t op;
    };

    Area() = default;
    /// `base`: zeroed, but for what `open` has written. `process`: regions come from its heap; null: see have_regions.
    Area(std::byte* base, int members, Process* process = nullptr);
    /// A communicator's, whose members are `all` of that order; it outlives what is done with the view but to leave.
    Area(std::byte* base, Group const& all, Process& process);

    /// Bytes of an area for so many members, without regions.
    static constexpr std::size_t bytes(int members) { return static_cast<std::size_t>(members) * area_page; }
    /// By whoever has allocated it, before anybody else knows of it: lets each member's page come from the NUMA node
    /// where the member runs.
    void open() const;
    /// May the pages go back to their owner's heap? For the owner, which has left.
    bool unused() const;
    /// May this rank's region go back to its heap? For who has left; not to be asked again once it is true.
    bool take_back_region() const;

    static std::size_t bytes_of_regions(int members);
    /// Instead of getting them: all regions at once, in zeroed memory.
    void have_regions(std::byte* memory);
    /// What of this rank's heap its regions lie in, for whoever gives them back; 0: nothing.
    std::uint64_t own_region(int region) const { return regions_[region].own; }

    /// False: a view of no memory, of a communicator whose members have none in common.
    explicit operator bool() const { return base_ != nullptr; }
    int members() const { return members_; }
    std::size_t slot_bytes() const { return slot_bytes_; }

    /// Highest operation that the member has completed, all earlier ones included; `gone` when it left for good.
    Flag& done(int member) const { return head(member).done; }
    static constexpr std::uint64_t gone = ~std::uint64_t{0} >> 1;

    /// Records that a member could not go on with an operation; any member may do so, and several at the same time. A
    /// member that fails because another one has keeps that one's number.
    void fail(int member, std::uint64_t op) const {
        if (failed(op)) return;
        failure(op).member.store(member, std::memory_order_relaxed);
        failure(op).op.store(op, std::memory_order_release);
    }
    bool failed(std::uint64_t op) const { return failure(op).op.load(std::memory_order_acquire) == op; }
    /// One of those who said so.
    int failed_member(std::uint64_t op) const { return failure(op).member.load(std::memory_order_relaxed); }

    /// By each member, when the operation's channel is free and before it begins the operation.
    void enter(int member, std::uint64_t op) const {
        if (op % refresh_period < channel_depth) [[unlikely]]
            refresh(member, op);
    }
    Channel& channel(int member, std::uint64_t op) const {
        return *reinterpret_cast<Channel*>(base_ + first_channel_ + op % channel_depth * channel_distance_ +
                                           static_cast<std::size_t>(member) * member_distance_);
    }
    /// In bytes, from one member's to the next one's of the same operation.
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
    /// A word that one peer alone writes in an operation, beside `member`.
    Word handed(int member, std::uint64_t op) const { return {channel(member, op).handed.value, op}; }
    /// Counters for transfers between pairs: what `member` has written for, or read from, `peer`.
    Word sent(int member, std::uint64_t op, int peer) const { return pair(member, op, peer); }
    Word taken(int member, std::uint64_t op, int peer) const { return pair(member, op, members_ + peer); }
    /// Where the member records what its program calls (coll/match/call_record.hpp): record_bytes, on lines of their
    /// own. Throws Error(no_mem) the first time.
    std::byte* records(int member) const {
        return region(AreaRegion::records, channel_depth).data + static_cast<std::size_t>(member) * record_bytes;
    }
    /// Where the member records its first calls: lines beside its flags, so that a communicator that is used only a few
    /// times needs no memory for records.
    std::byte* first_records(int member) const { return head(member).first_records; }
    /// By a member that has recorded a call.
    void show_call() const {
        if (!has_calls()) header().called.store(1, std::memory_order_relaxed);
    }
    /// Has any member recorded a call?
    bool has_calls() const { return header().called.load(std::memory_order_relaxed) != 0; }
    /// Does any member have records of more than its first calls?
    bool has_records() const { return find_region(AreaRegion::records); }
    /// For so many bytes: who reads a slot and who writes it must name the same size.
    std::byte* slot(int member, std::uint64_t op, std::size_t bytes) const {
        if (bytes <= small_slot_bytes)
            return region(AreaRegion::small_slots, op).data + place(member, op) * small_slot_bytes;
        return region(AreaRegion::slots, op).data +
               (static_cast<std::size_t>(member) * channel_depth + op % channel_depth) * slot_bytes_;
    }
    /// From one member's slot to the next one's.
    std::size_t slot_distance(std::size_t bytes) const {
        return bytes <= small_slot_bytes ? place(1, 0) * small_slot_bytes : channel_depth * slot_bytes_;
    }

private:
    /// Of an operation on each channel.
    struct Failure {
        std::atomic<std::uint64_t> op;
        std::atomic<int> member;
    };
    /// Of the whole area, at its beginning.
    struct alignas(cache_line) Header {
        std::atomic<std::int64_t> regions[area_regions];   ///< see area.cpp; 0: nobody needed it yet
        std::atomic<int> lent;                             ///< regions that their owners have not taken back
        std::atomic<int> called;                           ///< 1: a member has recorded a call (coll/match)
        Failure failures[channel_depth];
    };
    /// Of a member, for all operations.
    struct Head {
        Flag done;
        alignas(cache_line) std::byte first_records[first_records_bytes];
    };
    static_assert(sizeof(Header) + sizeof(Head) + channel_depth * sizeof(Channel) <= area_page);
    /// As this rank sees it.
    struct RegionView {
        std::byte* data = nullptr;
        std::uint64_t first = 0;   ///< its flags' stamps count from this operation, modulo 2^16
        std::uint64_t own = 0;     ///< offset in this rank's heap, if it lies there
    };

    Head& head(int member) const {
        return *reinterpret_cast<Head*>(base_ + sizeof(Header) + static_cast<std::size_t>(member) * head_distance_);
    }
    Header& header() const { return *reinterpret_cast<Header*>(base_); }
    Failure& failure(std::uint64_t op) const { return header().failures[op % channel_depth]; }
    bool left_by_all() const;
    void refresh(int member, std::uint64_t op) const;
    /// The number of a member's part of a channel, in a region that has one for each.
    std::size_t place(int member, std::uint64_t op) const {
        auto const m = static_cast<std::size_t>(member), channel = static_cast<std::size_t>(op % channel_depth);
        return by_member_ ? m * channel_depth + channel : channel * static_cast<std::size_t>(members_) + m;
    }

    RegionView const& region(AreaRegion which, std::uint64_t op) const {
        RegionView& view = regions_[static_cast<int>(which)];
        if (!view.data) [[unlikely]]
            get_region(which, op);
        return view;
    }
    /// Finds it if it is there; else false.
    bool find_region(AreaRegion which) const;
    /// Finds or makes it, for operation `op`, which has begun. Throws Error(no_mem).
    void get_region(AreaRegion which, std::uint64_t op) const;
    void make_region(AreaRegion which, std::uint64_t op) const;
    /// Of each member, and of all.
    static std::size_t row_bytes(AreaRegion which, int members);
    static std::size_t region_bytes(AreaRegion which, int members);
    /// Of a region, or of the area itself: `bytes` for each member, from `at` on.
    void place_rows(std::byte* at, std::size_t bytes) const;
    /// A member's own slots of a small world are there from their first use on: its first calls take few page faults.
    void populate_slots() const;

    std::atomic<std::uint64_t>* pair_row(RegionView const& pairs, int member, std::uint64_t op) const {
        return reinterpret_cast<std::atomic<std::uint64_t>*>(pairs.data + place(member, op) * pair_bytes(members_));
    }
    Word pair(int member, std::uint64_t op, int at) const {
        RegionView const& pairs = region(AreaRegion::pairs, op);
        return {pair_row(pairs, member, op)[at], op - pairs.first};
    }
    static constexpr int outer_levels = max_levels - inner_levels;
    LevelFlags* outer_flags(RegionView const& levels, int member, std::uint64_t op) const {
        return reinterpret_cast<LevelFlags*>(levels.data) + place(member, op) * outer_levels;
    }
    Word outer(int member, std::uint64_t op, int level, Flag LevelFlags::*flag) const {
        RegionView const& levels = region(AreaRegion::outer_levels, op);
        return {(outer_flags(levels, member, op)[level - inner_levels].*flag).value, op - levels.first};
    }
    static std::size_t pair_bytes(int members) {
        return (static_cast<std::size_t>(members) * 16 + cache_line - 1) / cache_line * cache_line;
    }
    /// Many members get smaller slots, but each slot has room for a table of 24 bytes per member.
    static std::size_t slot_size(int members) {
        return members <= 32 ? 8192 : members <= 170 ? 4096 : (static_cast<std::size_t>(members) * 24 + 63) / 64 * 64;
    }

    std::byte* base_ = nullptr;
    Process* process_ = nullptr;
    Group const* group_ = nullptr;
    int members_ = 0;
    bool by_member_ = false;   ///< everything of a member together, on pages of its own
    std::size_t slot_bytes_ = 0;
    std::size_t head_distance_ = 0, first_channel_ = 0, channel_distance_ = 0, member_distance_ = 0;
    mutable RegionView regions_[area_regions];   ///< what it has seen; a view belongs to one rank
};

}   // namespace tutti::coll
