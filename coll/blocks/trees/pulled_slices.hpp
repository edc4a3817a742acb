// SPDX-License-Identifier: BSD-3-Clause
// What broadcasts share in which each rank pulls from its parent in a tree. A rank shows its buffer where it lies; when
// nobody can get at it there, it lays it out in its staging memory, slice after slice, two under way: slice c waits
// until all children have read c − 2, which wait for none of theirs that are behind them. A child that the system
// refuses asks its parent for slices, one at a time, and gets them when the parent has everything.
//
// Counters: ready[0] slices laid out (of a shown buffer the algorithm's own); ack[0] slices read or asked for, at last
// last_step; sent: the slice asked for is laid out.
#pragma once

#include "coll/blocks/trees/tree_place.hpp"
#include "coll/env/env.hpp"

namespace tutti::coll {

template <class Env>
class PulledSlices {
public:
    /// `most`: bytes of a slice at most; all ranks say the same.
    PulledSlices(Env& env, Buffer const& to, LeaderPlace in_tree, std::size_t most)
        : place(std::move(in_tree)), data(to), bytes(to.bytes()), slice(std::min(most, quarter_of(env))), env_(env),
          quarter_(quarter_of(env)), dense_(to.type->dense(to.count)) {}
    FramePool& frames() { return env_.frames(); }

    /// What all ranks touch.
    std::size_t working_set() const { return bytes * static_cast<std::size_t>(env_.size()); }
    std::size_t end_of(std::uint64_t k) const { return std::min(bytes, (k + 1) * slice); }

    /// Shows this rank's buffer; before it publishes.
    AccessPath show() { return way = env_.expose(data, 3 * quarter_, quarter_); }
    /// Once the parent has shown its own.
    void meet() {
        Exposure const& e = env_.exposure(place.parent);
        source = env_.buffer_of(place.parent);
        if (e.way != AccessPath::staged && e.layout == Exposure::one_piece) shown_at_ = e.address;
    }

    /// Copies up to `end` from the parent's buffer, by load from the source;
    void load(std::size_t end) {
        source.get(data, got, end - got, working_set());
        got = end;
    }
    /// or by the system; false when that refuses, now or before. What has come counts.
    bool fetch(std::size_t end) {
        if (shown_at_ == 0) return false;
        std::span<std::byte> bounce;
        if (!dense_) bounce = {env_.staging() + depth * quarter_, quarter_};
        if (!fetch_packed(env_, place.parent, shown_at_, data, got, end, bounce)) shown_at_ = 0;
        return shown_at_ != 0;
    }

    /// Receives the rest of the slice that is under way through the parent's staging memory, asking for it if need be.
    Task take_slice() {
        std::uint64_t const k = got / slice;
        bool const staged = env_.exposure(place.parent).way == AccessPath::staged;
        if (staged) {
            co_await env_.until_ready(place.parent, 0, k + 1);
        } else {
            env_.ack(0, k + 1);
            co_await env_.until_sent(place.parent, k + 1);
        }
        env_.store(data, got, env_.staging(place.parent) + k % depth * quarter_ + (got - k * slice), end_of(k) - got);
        if (staged) env_.ack(0, k + 1);
        got = end_of(k);
    }

    /// Lays out the whole slices that have come, for children who cannot get at the buffer.
    Task lay_out() {
        for (; laid_ * slice < got && got >= end_of(laid_); ++laid_) {
            for (int child : place.children)
                if (laid_ >= depth) co_await env_.until_ack(child, 0, laid_ - depth + 1);
            stage(laid_);
            env_.ready(0, laid_ + 1);
        }
    }

    /// Says that this rank has everything, and waits until its children have, laying out meanwhile what they ask for.
    Task finish() {
        if (place.parent >= 0) env_.ack(0, last_step);
        for (int child : place.children) {
            if (way == AccessPath::staged) co_await env_.until_ack(child, 0, last_step);
            for (std::uint64_t seen = 0; env_.acked(child, 0) != last_step;) {
                co_await env_.until_ack(child, 0, seen + 1);
                seen = env_.acked(child, 0);
                if (seen == last_step) break;
                stage(seen - 1);
                env_.sent(child, seen);
            }
        }
    }

    LeaderPlace place;
    Buffer data;
    std::size_t const bytes, slice;
    std::size_t got = 0;                   ///< bytes that have arrived, from the start on
    AccessPath way = AccessPath::staged;   ///< to this rank's buffer
    PeerBuffer<Env> source;                ///< the parent's, when this rank can load there

private:
    static std::size_t quarter_of(Env& env) { return env.staging_bytes() / 4 / cache_line * cache_line; }
    static constexpr std::uint64_t depth = 2;   // of four quarters; then one to unpack from, one for a layout

    void stage(std::uint64_t k) {
        env_.stage(env_.staging() + k % depth * quarter_, data, k * slice, end_of(k) - k * slice);
    }

    Env& env_;
    std::size_t quarter_;
    bool const dense_;
    std::uint64_t laid_ = 0;
    std::uint64_t shown_at_ = 0;   ///< the parent's buffer in one piece, as long as the system reads there
};

}   // namespace tutti::coll
