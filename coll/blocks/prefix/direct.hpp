// SPDX-License-Identifier: BSD-3-Clause
// What scan and exscan by load and store in everybody's buffers share: each rank computes the results of all ranks for
// its range of the indexes, piece by piece, from the operands where they lie into the results where they belong. Two
// exchanges whatever the number of ranks; p·s bytes are loaded and p·s stored by all ranks together, and what one
// rank's result is for the next comes from the nearest cache.
//
// Range r of every buffer is read and written by rank r alone, and of one rank's operand each piece is read before the
// same piece of its result is written: in place the operand may be the result.
#pragma once

#include "coll/blocks/prefix/chain.hpp"
#include "coll/blocks/reduce/direct_access.hpp"

namespace tutti::coll {

template <class Env>
class PrefixDirect {
public:
    PrefixDirect(Env& env, DirectAccess<Env>& access, ReduceArgs const& args, std::size_t piece)
        : ins_(access.ins()), outs_(access.outs()), reducer_(env.traffic(), args),
          ranks_(static_cast<std::size_t>(env.size())), env_(env),
          working_set_(ranks_ * args.bytes() * (args.in ? 2 : 1)), between_(2 * piece, env.frames()) {}

    /// Every result has its own rank's operand in it.
    void scan(std::size_t at, std::size_t bytes) {
        if (outs_[0] != ins_[0]) env_.copy(outs_[0] + at, ins_[0] + at, bytes, working_set_);
        for (std::size_t r = 1; r < ranks_; ++r) combine(outs_[r - 1] + at, ins_[r] + at, outs_[r] + at, bytes);
    }
    /// Only the operands of the ranks below; rank 0 has no result.
    void exscan(std::size_t at, std::size_t bytes) {
        std::byte const* below = ins_[0] + at;
        for (std::size_t r = 1; r < ranks_; ++r) {
            std::byte* with_own = between_.data() + r % 2 * (between_.size() / 2);
            if (r + 1 < ranks_) combine(below, ins_[r] + at, with_own, bytes);
            env_.copy(outs_[r] + at, below, bytes, working_set_);
            below = with_own;
        }
    }

private:
    void combine(std::byte const* first, std::byte const* second, std::byte* out, std::size_t bytes) {
        void const* operands[] = {first, second};
        reducer_.combine(operands, 2, out, bytes / reducer_.element_bytes());
    }

    std::span<std::byte const* const> ins_;
    std::span<std::byte* const> outs_;
    Reducer reducer_;
    std::size_t ranks_;
    Env& env_;
    std::size_t working_set_;
    PooledVector<std::byte> between_;   ///< two pieces of what does not belong to a result (yet)
};

/// How many bytes at a time: whole lines.
inline std::size_t whole_lines(std::size_t chunk, std::size_t element) {
    std::size_t const line = line_of(element);
    return std::max<std::size_t>(1, chunk / line) * line;
}

/// `inclusive`: scan, else exscan. Parameters: bytes at a time, smallest share, bytes of a block of the chain.
inline constexpr Parameter prefix_direct_parameters[] = {
    {"chunk", 8192, "bytes of one result that are computed at a time"},
    {"share", 1024, "bytes below which a rank's share is not divided further"},
    {"block", 32768, "bytes of a block where some rank's buffers cannot be reached"},
};

template <class Env>
Task prefix_direct(Env& env, ReduceArgs const& a, bool inclusive) {
    if (a.bytes() == 0) co_return;
    bool const has_result = inclusive || env.rank() > 0;
    DirectAccess<Env> access(env, shown_operand(a), has_result ? shown_result(a) : std::span<std::byte>{});
    co_await access.agree();
    if (!access.granted()) {
        co_await prefix_chain(env, a, inclusive, a.parameters[2]);
        co_return;
    }
    std::size_t const element = static_cast<std::size_t>(a.type->size()), piece = whole_lines(a.parameters[0], element);
    Share const share(a.bytes(), element, env.rank(), env.size(), a.parameters[1]);
    PrefixDirect<Env> prefix(env, access, a, piece);
    for (std::size_t at = share.first; at < share.last; at += piece) {
        std::size_t const bytes = std::min(piece, share.last - at);
        if (inclusive) prefix.scan(at, bytes);
        else prefix.exscan(at, bytes);
    }
    co_await access.leave_together();
}

}   // namespace tutti::coll
