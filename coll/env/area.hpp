// SPDX-License-Identifier: BSD-3-Clause
// The memory of a sequence of operations in the node segment, a communicator's or a persistent request's: per member
// and channel its flags, what it shows the others, and its slot.
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
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "coll/env/parameter.hpp"
#include "runtime/base/flag.hpp"
#include "runtime/memory/single_copy.hpp"

namespace tutti::coll {

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

struct Channel {
    Cell cell;
    Exposure exposure;
    Flag ready[max_levels];
    Flag ack[max_levels];
};

/// A view of such memory; every member's view has the same shape, at its own address.
class Area {
public:
    Area() = default;
    Area(std::byte* base, int members)
        : base_(base), members_(members), slot_bytes_(slot_size(members)), stride_(stride(members)) {}

    /// Bytes of an area for so many members.
    static std::size_t bytes(int members) {
        return sequences(members) + static_cast<std::size_t>(members) * channel_depth * stride(members);
    }
    /// Makes every flag zero. The communicator's rank 0 does this before anybody else knows of the area.
    void clear();

    /// False: a view of no memory, of a communicator whose members have none in common.
    explicit operator bool() const { return base_ != nullptr; }
    int members() const { return members_; }
    std::size_t slot_bytes() const { return slot_bytes_; }

    /// Highest operation that the member has completed, all earlier ones included; `gone` when it left for good.
    Flag& done(int member) const { return reinterpret_cast<Flag*>(base_)[member]; }
    static constexpr std::uint64_t gone = ~std::uint64_t{0} >> 1;

    /// Says that a member could not go on with an operation; any member may say so, and several at once.
    void fail(int member, std::uint64_t op) const {
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
    Channel& channel(int member, std::uint64_t op) const { return *reinterpret_cast<Channel*>(sequence(member, op)); }
    /// Counters for transfers between pairs: what `member` has written for, or read from, `peer`.
    std::atomic<std::uint64_t>& sent(int member, std::uint64_t op, int peer) const { return pairs(member, op)[peer]; }
    std::atomic<std::uint64_t>& taken(int member, std::uint64_t op, int peer) const {
        return pairs(member, op)[members_ + peer];
    }
    std::byte* slot(int member, std::uint64_t op) const {
        return sequence(member, op) + sizeof(Channel) + pair_bytes(members_);
    }

private:
    /// Of an operation on each channel.
    struct Failure {
        std::atomic<std::uint64_t> op{0};
        std::atomic<int> member{0};
    };

    static std::size_t flags(int members) { return static_cast<std::size_t>(members) * sizeof(Flag); }
    static std::size_t sequences(int members) { return flags(members) + channel_depth * sizeof(Failure); }
    Failure& failure(std::uint64_t op) const {
        return reinterpret_cast<Failure*>(base_ + flags(members_))[op % channel_depth];
    }
    void refresh(int member, std::uint64_t op) const;
    static std::size_t pair_bytes(int members) {
        return (static_cast<std::size_t>(members) * 16 + cache_line - 1) / cache_line * cache_line;
    }
    /// Many members get smaller slots, but each slot has room for a table of 24 bytes per member.
    static std::size_t slot_size(int members) {
        return members <= 32 ? 8192 : members <= 170 ? 4096 : (static_cast<std::size_t>(members) * 24 + 63) / 64 * 64;
    }
    static std::size_t stride(int members) { return sizeof(Channel) + pair_bytes(members) + slot_size(members); }
    std::byte* sequence(int member, std::uint64_t op) const {
        return base_ + sequences(members_) +
               (static_cast<std::size_t>(member) * channel_depth + op % channel_depth) * stride_;
    }
    std::atomic<std::uint64_t>* pairs(int member, std::uint64_t op) const {
        return reinterpret_cast<std::atomic<std::uint64_t>*>(sequence(member, op) + sizeof(Channel));
    }

    std::byte* base_ = nullptr;
    int members_ = 0;
    std::size_t slot_bytes_ = 0, stride_ = 0;
};

inline void Area::clear() {
    for (std::uint64_t k = 0; k < channel_depth; ++k) new (&failure(k)) Failure{};
    for (int m = 0; m < members_; ++m) {
        new (&done(m)) Flag{};
        for (std::uint64_t k = 0; k < channel_depth; ++k) {
            new (&channel(m, k)) Channel{};
            for (int p = 0; p < 2 * members_; ++p) new (&pairs(m, k)[p]) std::atomic<std::uint64_t>{0};
        }
    }
}

inline void Area::refresh(int member, std::uint64_t op) const {
    std::uint64_t const fresh = stamp(op, 0);
    Channel& own = channel(member, op);
    own.cell.stamp.store(fresh, std::memory_order_relaxed);
    for (int level = 0; level < max_levels; ++level) {
        own.ready[level].value.store(fresh, std::memory_order_relaxed);
        own.ack[level].value.store(fresh, std::memory_order_relaxed);
    }
    for (int p = 0; p < 2 * members_; ++p)
        if (p != member) pairs(member, op)[p].store(fresh, std::memory_order_relaxed);
    // A peer that has begun the operation may write this one meanwhile.
    std::atomic<std::uint64_t>& handed = sent(member, op, member);
    for (std::uint64_t old = handed.load(std::memory_order_relaxed); !has_come(old, fresh);)
        if (handed.compare_exchange_weak(old, fresh, std::memory_order_relaxed)) break;
}

}   // namespace tutti::coll
