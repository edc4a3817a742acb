// SPDX-License-Identifier: BSD-3-Clause
// The memory of a sequence of operations in the node segment, a communicator's or a persistent request's: per member
// and channel its flags, what it shows the others, and its slot.
//
// Operation number n (1, 2, …, the same for all members) uses channel n mod depth. Every flag is written by its member
// alone (but see `hand`, env.hpp) and counts up: stamp(n, step) grows with n and with the step; nothing is ever reset.
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

inline constexpr int channel_depth = 8;    ///< operations that may be under way at once
inline constexpr std::uint64_t last_step = (1u << 28) - 1;
inline constexpr std::uint64_t last_operation = ~std::uint64_t{0} >> 28;

/// The value of a flag at `step` of operation `op`.
constexpr std::uint64_t stamp(std::uint64_t op, std::uint64_t step) { return op << 28 | step; }

/// What a member shows its peers in one operation; valid for them once they have seen its cell's stamp.
struct alignas(cache_line) Exposure {
    static constexpr std::uint64_t one_piece = ~std::uint64_t{0};

    std::uint64_t address;   ///< in the member's own address space: the first byte; with gaps: the elements' origin
    std::uint64_t staging;   ///< offset of its staging memory in the segment
    std::uint64_t bytes;     ///< of data
    std::uint64_t layout;    ///< one_piece, or where in the staging memory the datatype is written down
    AccessPath way;                 ///< to all that is shown
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

    /// Highest operation that the member has completed, all earlier ones included; all ones when it left for good.
    Flag& done(int member) const { return reinterpret_cast<Flag*>(base_)[member]; }
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
    static std::size_t sequences(int members) { return static_cast<std::size_t>(members) * sizeof(Flag); }
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
    for (int m = 0; m < members_; ++m) {
        new (&done(m)) Flag{};
        for (std::uint64_t k = 0; k < channel_depth; ++k) {
            new (&channel(m, k)) Channel{};
            for (int p = 0; p < 2 * members_; ++p) new (&pairs(m, k)[p]) std::atomic<std::uint64_t>{0};
        }
    }
}

}  // namespace tutti::coll
