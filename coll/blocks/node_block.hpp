// SPDX-License-Identifier: BSD-3-Clause
// The parts of a node's ranks, one after the other, in the user's buffer or in memory of its own. Masters exchange such
// blocks between nodes.
#pragma once

#include <algorithm>

#include "coll/blocks/block_row.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/blocks/nodes.hpp"
#include "coll/env/net_env.hpp"

namespace tutti::coll {

class NodeBlock {
public:
    /// `sizes`: according to the senders. If this rank expects other sizes, the block is kept in memory of its own;
    /// otherwise it is in the user's buffer.
    NodeBlock(FramePool& frames, AllgatherArgs const& a, std::span<int const> ranks,
              std::span<std::uint64_t const> sizes)
        : a_(a), ranks_(ranks), sizes_(sizes.begin(), sizes.end(), frames) {
        bool expected = true;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            bytes += sizes[i];
            expected = expected && a.parts[ranks[i]].bytes() == sizes[i];
        }
        if (!expected) own_ = PooledBytes(frames, bytes);
        data_ = expected ? contiguous_start() : own_.get();
    }
    bool is_in_user_buffer() const { return !own_; }
    Buffer part(std::size_t i) const {
        if (is_in_user_buffer()) return a_.parts[ranks_[i]];
        std::size_t at = 0;
        for (std::size_t j = 0; j < i; ++j) at += sizes_[j];
        return packed_buffer(data_ + at, sizes_[i]);
    }
    /// Returns the address of packed byte `at`, or null if the bytes are not contiguous.
    std::byte* address(std::size_t at) const { return data_ ? data_ + at : nullptr; }
    /// Copy the packed bytes [at, at + n) to and from other memory.
    void load(NetEnv& env, std::byte* to, std::size_t at, std::size_t n) const {
        if (data_) return env.copy(to, data_ + at, n, 0);
        each_part(at, n, [&](Buffer const& part, std::size_t from, std::size_t length) {
            env.load(to, part, from, length);
            to += length;
        });
    }
    void store(NetEnv& env, std::size_t at, std::byte const* from, std::size_t n) const {
        if (data_) return env.copy(data_ + at, from, n, 0);
        each_part(at, n, [&](Buffer const& part, std::size_t to, std::size_t length) {
            env.store(part, to, from, length);
            from += length;
        });
    }
    /// Copies parts with unexpected sizes to their destinations, as far as there is room.
    void unpack(NetEnv& env, Truncation& truncation) const {
        std::byte const* from = own_.get();
        for (std::size_t i = 0; own_ && i < sizes_.size(); from += sizes_[i++])
            if (!(a_.is_in_place && ranks_[i] == env.rank()))
                deliver(env, a_.parts[ranks_[i]], 0, from, sizes_[i], sizes_[i], ranks_[i], truncation);
    }

    std::size_t bytes = 0;

private:
    std::byte* contiguous_start() const {
        std::byte *first = nullptr, *next = nullptr;
        for (std::size_t i = 0; i < sizes_.size(); ++i) {
            Buffer const part = a_.parts[ranks_[i]];
            if (!part.type->dense(part.count)) return nullptr;
            if (sizes_[i] == 0) continue;
            if (first && first_byte(part) != next) return nullptr;
            if (!first) first = first_byte(part);
            next = first_byte(part) + sizes_[i];
        }
        return first;
    }
    /// Calls f(part, offset in the part, bytes) for the packed bytes [at, at + n).
    template <class F>
    void each_part(std::size_t at, std::size_t n, F f) const {
        std::size_t start = 0;
        for (std::size_t i = 0; i < sizes_.size() && n > 0; start += sizes_[i++]) {
            if (at >= start + sizes_[i]) continue;
            std::size_t const from = at - start, length = std::min<std::size_t>(n, sizes_[i] - from);
            f(part(i), from, length);
            at += length, n -= length;
        }
    }

    AllgatherArgs const& a_;
    std::span<int const> ranks_;
    PooledVector<std::uint64_t> sizes_;
    std::byte* data_ = nullptr;   ///< null: not contiguous
    PooledBytes own_;
};

}   // namespace tutti::coll
