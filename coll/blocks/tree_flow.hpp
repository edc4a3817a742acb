// SPDX-License-Identifier: BSD-3-Clause
// Pipelines along trees, with messages: reductions up a tree and broadcasts down a tree, segment by segment. While a
// segment is with the parent (or with the children), the next one is received; each inner rank holds two segments on
// the way up and none on the way down.
//
// Why up and down may run concurrently: let rank r, d steps below the top, receive segment k from above after it has
// sent segment k + 2 d upwards, and the top immediately. With times R = k + b (h − d) for receiving segment k from
// below and D = k + b d + b h + 1/2 from above, where b is slightly larger than 1 and h is the height, every rank's
// steps come in its own order, and every wait is for something earlier, even if a message needs both sides at the same
// time.
#pragma once

#include <memory>

#include "coll/blocks/messages.hpp"
#include "coll/blocks/reducer.hpp"
#include "coll/blocks/tree.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

/// Combines the operands of the ranks below with this rank's own, in rank order, for the parent.
template <class Env>
class CombineUp {
public:
    /// `keeps_result`: this rank, at the top, stores the result in its own result buffer.
    CombineUp(Env& env, Messages<Env>& m, ReduceArgs const& a, TreePosition position, Segments segments,
              bool keeps_result)
        : env_(env), m_(m), a_(a), reducer_(env.traffic(), a), position_(std::move(position)), segments_(segments),
          keeps_result_(keeps_result) {
        bool const dense = a.type->dense(a.count);
        if (dense) own_ = first_byte(operand(a));
        if (keeps_result && dense) result_ = first_byte(result(a));
        if (!position_.leaf() || keeps_result) {
            stride_ = (segments.length + cache_line - 1) / cache_line * cache_line;
            if (!result_) sums_ = PooledBytes(env.frames(), std::min<std::size_t>(segments.count, 2) * stride_);
        }
    }
    FramePool& frames() { return env_.frames(); }

    /// Receives segment k from below, combines it and starts to send it to the parent.
    Task segment(std::uint64_t k) {
        bool const is_leaf = position_.leaf();
        sum_ = sum(k);
        if (sum_) begin(k, is_leaf);
        for (int child : position_.children) co_await add(child, k, true);
        for (auto child = position_.before.rbegin(); child != position_.before.rend(); ++child)
            co_await add(*child, k, false);
        std::size_t const at = segments_.at(k), n = segments_.bytes(k);
        if (keeps_result_ && !result_) env_.store(result(a_), at, sum_, n);
        if (position_.parent < 0) co_return;
        co_await finish();
        co_await m_.start(position_.parent, is_leaf ? MessagePart{operand(a_), at, n} : packed_part(sum_, n));
    }

    /// Waits until the parent has received the last segment in flight.
    Task finish() {
        if (position_.parent >= 0) co_await m_.finish(position_.parent);
    }

    /// The packed sum of segment k, valid until segment k + 2; at a rank that has children or keeps the result.
    std::byte* sum(std::uint64_t k) {
        if (result_) return result_ + segments_.at(k);
        return sums_ ? sums_.get() + k % 2 * stride_ : nullptr;
    }

private:
    /// Sets the first operand: in the user's memory if it is contiguous, otherwise packed into the sum.
    void begin(std::uint64_t k, bool is_leaf) {
        std::size_t const at = segments_.at(k);
        first_ = own_ ? own_ + at : sum_;
        if (own_ && !(is_leaf && sum_ != first_)) return;
        env_.load(sum_, operand(a_), at, segments_.bytes(k));
        first_ = sum_;
    }

    Task add(int child, std::uint64_t k, bool after) {
        std::size_t const element = element_of(a_);
        auto use = [&](std::byte const* incoming, std::size_t at, std::size_t n) {
            void const* operands[] = {first_ + at, incoming};
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
    TreePosition position_;
    Segments segments_;
    bool keeps_result_;
    std::byte const* own_ = nullptr;   ///< the operand if it is contiguous, else null
    std::byte* result_ = nullptr;      ///< the result, likewise
    PooledBytes sums_;
    std::size_t stride_ = 0;
    std::byte* sum_ = nullptr;           ///< sum of the current segment
    std::byte const* first_ = nullptr;   ///< its first operand
};

/// Passes a user's buffer from the parent to the children.
template <class Env>
class PassDown {
public:
    /// The segments begin at packed byte `first`. The last child is served first: it has the largest subtree in trees
    /// where sizes differ.
    PassDown(Env& env, Messages<Env>& m, Buffer data, TreePosition position, Segments segments, std::size_t first = 0)
        : env_(env), m_(m), data_(data), position_(std::move(position)), segments_(segments), first_(first) {}
    FramePool& frames() { return env_.frames(); }

    /// Passes all segments.
    Task all() {
        for (std::uint64_t k = 0; k < segments_.count; ++k) co_await segment(k);
        co_await finish();
    }
    /// Passes segment k; nothing if there is none.
    Task segment(std::uint64_t k) {
        if (k >= segments_.count) co_return;
        std::size_t const at = first_ + segments_.at(k), n = segments_.bytes(k);
        if (position_.parent >= 0) co_await m_.receive(position_.parent, n, m_.into(data_, at));
        for (auto child = position_.children.rbegin(); child != position_.children.rend(); ++child) {
            co_await m_.finish(*child);
            co_await m_.start(*child, {data_, at, n});
        }
    }
    Task finish() {
        for (int child : position_.children) co_await m_.finish(child);
    }

private:
    Env& env_;
    Messages<Env>& m_;
    Buffer data_;
    TreePosition position_;
    Segments segments_;
    std::size_t first_;
};

/// Up one tree, and down another, where this rank receives each segment `lag` segments later. Nothing is sent down if
/// `down` is null.
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

// Reduce along a tree of messages whose top need not be the root. In that case the top sends each segment of the result
// to the root, which receives it while it still sends its own operands upwards (d + 1 segments later if it is d steps
// below the top; why this terminates: head of this file).

template <class Env>
Task reduce_to_root(Env& env, ReduceArgs const& a, TreePosition position, int top, std::size_t segment) {
    Messages<Env> m(env, element_of(a));
    Segments const segments(a.bytes(), element_of(a), segment);
    bool const keeps_result = env.rank() == top && top == a.root,
               receives_result = env.rank() == a.root && top != a.root;
    auto const lag = receives_result ? static_cast<std::uint64_t>(position.depth) + 1 : 0;
    if (env.rank() == top && !keeps_result) position.parent = a.root;
    TreePosition under_top(env.frames());
    under_top.parent = top;
    CombineUp<Env> up(env, m, a, std::move(position), segments, keeps_result);
    PassDown<Env> result_of_top(env, m, result(a), std::move(under_top), segments);
    co_await flow(env, up, receives_result ? &result_of_top : nullptr, segments.count, lag);
    co_await m.close();
}

/// Reduces along a tree of this shape over the ranks in a circle: the root is at the top or, if the operator does not
/// commute, rank 0.
template <class Env>
Task reduce_by_shape(Env& env, ReduceArgs const& a, TreeShape shape, std::size_t segment) {
    int const top = a.op->commutative ? a.root : 0;
    return reduce_to_root(env, a, position_under(env.frames(), shape, top, env.rank(), env.size()), top, segment);
}

/// A rank's position in trees of this shape with the root at the top. Operators that do not commute use one tree on
/// each side of the root, over the ranks before it and the ranks after it.
inline TreePosition position_around(FramePool& frames, TreeShape shape, int root, int rank, int n, bool commutes) {
    if (commutes) return position_under(frames, shape, root, rank, n);
    TreePosition t(frames);
    if (rank <= root) {
        t = shape(frames, root - rank, root + 1).renumbered([root](int vrank) { return root - vrank; });
        t.before.assign(t.children.rbegin(), t.children.rend());
        t.children.clear();
    }
    if (rank >= root) {
        TreePosition after =
            shape(frames, rank - root, n - root).renumbered([root](int vrank) { return root + vrank; });
        after.before.swap(t.before);
        return after;
    }
    return t;
}

}   // namespace tutti::coll
