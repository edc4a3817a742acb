// SPDX-License-Identifier: BSD-3-Clause
// Reductions up a tree and broadcasts down a tree, segment by segment, with messages: what trees of messages share.
// While a segment is with the parent (or with the children), the next one is received; each inner rank holds two
// segments on the way up, none on the way down.
//
// Why up and down may go on at once: let rank r, d steps below the top, take segment k from above after it has given
// segment k + 2 d upwards, the top at once. With times R = k + b (h − d) for receiving segment k from below and
// D = k + b d + b h + 1/2 from above, b a little over 1 and h the height, every rank's steps come in its own order, and
// whoever waits waits for something earlier: also when a message needs both sides at the same time.
#pragma once

#include <memory>

#include "coll/blocks/messages/messages.hpp"
#include "coll/blocks/messages/segments.hpp"
#include "coll/blocks/reduce/reducer.hpp"
#include "coll/blocks/trees/tree_place.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

/// Combines the operands of the ranks below with this rank's own, in the order of ranks, for the parent.
template <class Env>
class CombineUp {
public:
    /// `keeps`: this rank, at the top, wants the result in its own result buffer.
    CombineUp(Env& env, Messages<Env>& m, ReduceArgs const& a, TreePlace place, Segments segments, bool keeps)
        : env_(env), m_(m), a_(a), reducer_(env.traffic(), a), place_(std::move(place)), segments_(segments),
          keeps_(keeps) {
        bool const dense = a.type->dense(a.count);
        if (dense) own_ = first_byte(operand(a));
        if (keeps && dense) result_ = first_byte(result(a));
        if (!place_.leaf() || keeps) {
            stride_ = (segments.length + cache_line - 1) / cache_line * cache_line;
            if (!result_) sums_ = PooledBytes(env.frames(), std::min<std::size_t>(segments.count, 2) * stride_);
        }
    }
    FramePool& frames() { return env_.frames(); }

    /// Segment k from below, combined, on its way to the parent.
    Task segment(std::uint64_t k) {
        bool const alone = place_.leaf();
        sum_ = memory(k);
        if (sum_) begin(k, alone);
        for (int child : place_.children) co_await add(child, k, true);
        for (auto child = place_.before.rbegin(); child != place_.before.rend(); ++child)
            co_await add(*child, k, false);
        std::size_t const at = segments_.at(k), n = segments_.bytes(k);
        if (keeps_ && !result_) env_.store(result(a_), at, sum_, n);
        if (place_.parent < 0) co_return;
        co_await finish();
        co_await m_.start(place_.parent, alone ? MessagePart{operand(a_), at, n} : packed_part(sum_, n));
    }

    /// The parent has the last segment that was on its way.
    Task finish() {
        if (place_.parent >= 0) co_await m_.finish(place_.parent);
    }

    /// The sum of segment k, packed, until segment k + 2: at a rank that has children or keeps the result.
    std::byte* memory(std::uint64_t k) {
        if (result_) return result_ + segments_.at(k);
        return sums_ ? sums_.get() + k % 2 * stride_ : nullptr;
    }

private:
    /// Where the first operand lies: the user's memory, if it is in one piece, otherwise packed into the sum.
    void begin(std::uint64_t k, bool alone) {
        std::size_t const at = segments_.at(k);
        first_ = own_ ? own_ + at : sum_;
        if (own_ && !(alone && sum_ != first_)) return;
        env_.load(sum_, operand(a_), at, segments_.bytes(k));
        first_ = sum_;
    }

    Task add(int child, std::uint64_t k, bool after) {
        std::size_t const element = element_of(a_);
        auto use = [&](std::byte const* theirs, std::size_t at, std::size_t n) {
            void const* operands[] = {first_ + at, theirs};
            if (!after) std::swap(operands[0], operands[1]);
            reducer_.combine(operands, 2, sum_ + at, n / element);
        };
        co_await m_.receive(child, segments_.bytes(k), use);
        first_ = sum_;
    }

    Env& env_;
    Messages<Env>& m_;
    ReduceArgs const& a_;
    Reducer reducer_;
    TreePlace place_;
    Segments segments_;
    bool keeps_;
    std::byte const* own_ = nullptr;   ///< the operand, in one piece
    std::byte* result_ = nullptr;      ///< the same of the result
    PooledBytes sums_;
    std::size_t stride_ = 0;
    std::byte* sum_ = nullptr;           ///< of the segment under way
    std::byte const* first_ = nullptr;   ///< what it is to be combined with
};

/// Hands a user's buffer on from the parent to the children.
template <class Env>
class PassDown {
public:
    /// The last child comes first: it has the largest subtree where that matters.
    PassDown(Env& env, Messages<Env>& m, Buffer data, TreePlace place, Segments segments)
        : env_(env), m_(m), data_(data), place_(std::move(place)), segments_(segments) {}
    FramePool& frames() { return env_.frames(); }

    Task segment(std::uint64_t k) {
        std::size_t const at = segments_.at(k), n = segments_.bytes(k);
        if (place_.parent >= 0) co_await m_.receive(place_.parent, n, m_.into(data_, at));
        for (auto child = place_.children.rbegin(); child != place_.children.rend(); ++child) {
            co_await m_.finish(*child);
            co_await m_.start(*child, {data_, at, n});
        }
    }
    Task finish() {
        for (int child : place_.children) co_await m_.finish(child);
    }

private:
    Env& env_;
    Messages<Env>& m_;
    Buffer data_;
    TreePlace place_;
    Segments segments_;
};

/// Up one tree; and down, where this rank takes each segment `lag` segments later. Nothing goes down if `down` is null.
template <class Env>
Task flow(Env& env, CombineUp<Env>& up, PassDown<Env>* down, std::uint64_t segments, std::uint64_t lag) {
    if (segments == 0) co_return;
    for (std::uint64_t k = 0; k <= segments + lag; ++k) {
        if (k < segments) co_await up.segment(k);
        else if (k == segments) co_await up.finish();
        if (down && k >= lag && k - lag < segments) co_await down->segment(k - lag);
    }
    if (down) co_await down->finish();
}

}   // namespace tutti::coll
