// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter in blocks, for its algorithms: in each step every rank stages a piece of everybody's share and reduces
// the piece of its own from all staging memories in one pass, in rank order. max(count)·p/chunk steps.
//
// A buffer of step b is written again in step b + 2, after everybody's ack of b. In place, the result's piece b covers
// data of steps up to b, which are staged before it is written.
#pragma once

#include <algorithm>

#include "coll/blocks/exchange/acknowledged.hpp"
#include "coll/blocks/reduce/reducer.hpp"
#include "coll/blocks/reduce/shares.hpp"
#include "coll/env/env.hpp"

namespace tutti::coll {

/// One operation: which piece of whose share lies where.
template <class Env>
class Pieces {
public:
    Pieces(Env& env, ReduceScatterArgs const& args, std::size_t chunk)
        : env_(env), a_(args), reducer_(env.traffic(), args),
          element_(std::max<std::size_t>(1, reducer_.element_bytes())), shares_(args, env.frames()),
          packed_(env.frames()), operands_(env.frames()) {
        std::size_t const size = a_.counts.size(), room = std::min(chunk, env.staging_bytes() / 2 / size);
        std::size_t const longest = static_cast<std::size_t>(*std::max_element(a_.counts.begin(), a_.counts.end()));
        elements_ = std::max<std::size_t>(1, std::min(room / element_, longest));
        stride_ = (elements_ * element_ + cache_line - 1) / cache_line * cache_line;
        buffer_ = stride_ * size;
        steps_ = a_.bytes() == 0 ? 0 : (longest + elements_ - 1) / elements_;
        straight_ = a_.kernels.many != nullptr && a_.type->dense(a_.count);
        if (!straight_) packed_.resize(elements_ * element_);
        operands_.resize(size);
    }

    std::uint64_t steps() const { return steps_; }
    std::size_t staging_bytes() const { return 2 * buffer_; }

    void stage(std::uint64_t b) {
        for (int r = 0; r < env_.size(); ++r)
            if (r != env_.rank() || !reads_own())
                env_.stage(piece(env_.staging(), r, b), operand(a_), position(r, b), count(r, b) * element_);
    }

    void reduce(std::uint64_t b) {
        int const me = env_.rank();
        std::size_t const n = count(me, b);
        if (n == 0) return;
        for (int r = 0; r < env_.size(); ++r) operands_[static_cast<std::size_t>(r)] = piece(env_.staging(r), me, b);
        if (reads_own())
            operands_[static_cast<std::size_t>(me)] =
                static_cast<std::byte const*>(a_.in) + a_.type->true_lb() + position(me, b);
        std::size_t const at = b * elements_ * element_;
        void* out = straight_ ? static_cast<std::byte*>(a_.out) + a_.type->true_lb() + at : packed_.data();
        reducer_.combine(operands_.data(), env_.size(), out, n);
        if (!straight_)
            env_.store(Buffer{a_.out, a_.counts[static_cast<std::size_t>(me)], a_.type}, at, out, n * element_);
    }

private:
    bool reads_own() const { return straight_ && a_.in != nullptr; }
    /// Elements of rank r's share in step b, and where they start in the packed vector.
    std::size_t count(int r, std::uint64_t b) const {
        std::size_t const all = static_cast<std::size_t>(a_.counts[static_cast<std::size_t>(r)]),
                          before = b * elements_;
        return before < all ? std::min(elements_, all - before) : 0;
    }
    std::size_t position(int r, std::uint64_t b) const { return shares_.start(r) + b * elements_ * element_; }
    std::byte* piece(std::byte* staging, int r, std::uint64_t b) const {
        return staging + (b % 2) * buffer_ + static_cast<std::size_t>(r) * stride_;
    }

    Env& env_;
    ReduceScatterArgs const& a_;
    Reducer reducer_;
    std::size_t element_, elements_, stride_, buffer_;
    std::uint64_t steps_;
    bool straight_;
    Shares shares_;
    PooledVector<std::byte> packed_;
    PooledVector<void const*> operands_;
};

/// `chunk`: bytes of each rank's share that are staged in one step.
template <class Env>
Task scatter_in_blocks(Env& env, ReduceScatterArgs const& a, std::size_t chunk) {
    Pieces<Env> pieces(env, a, chunk);
    env.reserve_staging(pieces.staging_bytes());
    env.add_staging();
    for (std::uint64_t b = 0; b < pieces.steps(); ++b) {
        if (b >= 2) co_await acknowledged(env, everybody(env), 0, b - 1);
        pieces.stage(b);
        env.ready(0, b + 1);
        for (int peer = 0; peer < env.size(); ++peer)
            if (peer != env.rank()) co_await env.until_ready(peer, 0, b + 1);
        pieces.reduce(b);
        env.ack(0, b + 1);
    }
    co_await acknowledged(env, everybody(env), 0, pieces.steps());
}

}   // namespace tutti::coll
