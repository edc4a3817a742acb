// SPDX-License-Identifier: BSD-3-Clause
// Where scans and exscans with messages have a segment's operand and its prefix: in the user's buffers if these lie in
// one piece, otherwise packed in memory of their own. Two prefixes at a time.
#pragma once

#include "coll/blocks/messages/segments.hpp"
#include "coll/blocks/reduce/reducer.hpp"
#include "coll/env/env.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

template <class Env>
class PrefixBuffers {
public:
    PrefixBuffers(Env& env, ReduceArgs const& a, Segments segments, bool inclusive)
        : env_(env), a_(a), segments_(segments), inclusive_(inclusive), dense_(a.type->dense(a.count)),
          stride_((segments.length + cache_line - 1) / cache_line * cache_line) {
        bool const direct = dense_ && a.in;   // in place the operand would be overwritten while others read it
        std::size_t const strides = (direct ? 0 : 1) + (dense_ ? 0 : std::min<std::size_t>(2, segments.count));
        if (strides > 0) room_ = PooledBytes(env.frames(), strides * stride_);
    }

    /// This rank's operand of segment k, packed: it may lie where the prefix will.
    std::byte const* own(std::uint64_t k) {
        if (dense_) return first_byte(operand(a_)) + segments_.at(k);
        env_.load(room_.get(), operand(a_), segments_.at(k), segments_.bytes(k));
        return room_.get();
    }

    /// The same apart from the prefix, which with scan gets a copy.
    std::byte const* begin(std::uint64_t k) {
        std::size_t const n = segments_.bytes(k);
        std::byte const* mine = own(k);
        if (mine == prefix(k)) {
            env_.copy(room_.get(), mine, n, 0);
            return room_.get();
        }
        if (inclusive_) env_.copy(prefix(k), mine, n, 0);
        return mine;
    }

    std::byte* prefix(std::uint64_t k) {
        if (dense_) return first_byte(result(a_)) + segments_.at(k);
        return room_.get() + (1 + k % 2) * stride_;
    }

    /// The prefix of segment k is the result.
    void end(std::uint64_t k) {
        bool const any = inclusive_ || env_.rank() > 0;
        if (!dense_ && any) env_.store(result(a_), segments_.at(k), prefix(k), segments_.bytes(k));
    }

private:
    Env& env_;
    ReduceArgs const& a_;
    Segments segments_;
    bool inclusive_, dense_;
    std::size_t stride_;
    PooledBytes room_;   ///< an operand, two prefixes
};

}   // namespace tutti::coll
