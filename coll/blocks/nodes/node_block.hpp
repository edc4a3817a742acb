// SPDX-License-Identifier: BSD-3-Clause
// What a node brings to an allgather over several: the parts of its ranks, one after the other, in the user's buffer if
// they lie there so, else in other memory, from which they are dealt out in the end.
#pragma once

#include <algorithm>

#include "coll/blocks/exchange/movement.hpp"
#include "coll/blocks/messages/block_row.hpp"
#include "coll/env/net_env.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

class NodeBlock {
public:
    NodeBlock(FramePool& frames, AllgatherArgs const& a, std::span<int const> ranks,
              std::span<std::uint64_t const> sizes)
        : a_(a), ranks_(ranks), sizes_(sizes.begin(), sizes.end(), frames) {
        for (std::uint64_t n : sizes) bytes += n;
        data = in_place();
        elsewhere_ = data == nullptr;
    }
    bool in_users_buffer() const { return !elsewhere_; }
    /// It lies in such memory from now on.
    void lie_at(std::byte* memory) {
        data = memory;
        elsewhere_ = true;
    }
    /// In some of its own, if it lies nowhere yet.
    void lie_somewhere(FramePool& frames) {
        if (data) return;
        own_ = PooledBytes(frames, bytes);
        lie_at(own_.get());
    }
    Buffer buffer() const { return packed_buffer(data, bytes); }
    Buffer part(std::size_t i) const {
        std::size_t at = 0;
        for (std::size_t j = 0; j < i; ++j) at += sizes_[j];
        return packed_buffer(data + at, sizes_[i]);
    }
    void unpack(NetEnv& env, Truncation& truncation) const {
        std::size_t at = 0;
        for (std::size_t i = 0; elsewhere_ && i < sizes_.size(); at += sizes_[i++])
            if (!(a_.is_in_place && ranks_[i] == env.rank()))
                deliver(env, a_.parts[ranks_[i]], 0, data + at, sizes_[i], sizes_[i], ranks_[i], truncation);
    }

    std::byte* data = nullptr;   ///< null: nowhere yet
    std::size_t bytes = 0;

private:
    std::byte* in_place() const {
        std::byte *first = nullptr, *next = nullptr;
        for (std::size_t i = 0; i < sizes_.size(); ++i) {
            Buffer const part = a_.parts[ranks_[i]];
            if (part.bytes() != sizes_[i] || !part.type->dense(part.count)) return nullptr;
            if (sizes_[i] == 0) continue;
            if (first && first_byte(part) != next) return nullptr;
            if (!first) first = first_byte(part);
            next = first_byte(part) + sizes_[i];
        }
        return first;
    }

    AllgatherArgs const& a_;
    std::span<int const> ranks_;
    PooledVector<std::uint64_t> sizes_;
    bool elsewhere_;   ///< than in the user's buffer
    PooledBytes own_;
};

}   // namespace tutti::coll
