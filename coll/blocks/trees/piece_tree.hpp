// SPDX-License-Identifier: BSD-3-Clause
// KNEM-Coll's broadcast over any number of levels: every leader shows its buffer once, out of band; the members of its
// team copy piece after piece from there, all at the same time, as soon as the leader says that it has the piece, and
// say so when they have all. With one team and one piece it is the linear broadcast.
//
// A leader whose buffer nobody can get at lays it out in its staging memory, slice after slice, two under way: slice c
// waits until all members have read c − 2, which wait for none of theirs that are behind them. A member that the system
// refuses asks its leader for slices, one at a time, and gets them when the leader has everything.
// Counters: ready[l]: pieces of level l that are there (staged: ready[0], slices); ack[0]: slices read or asked for,
// at last last_step; sent: the slice asked for is laid out.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), sections IV and V.B.
#pragma once

#include <array>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/trees/tree_place.hpp"

namespace tutti::coll {

template <class Env>
class PieceTree {
public:
    /// Bytes that a team copies at a time, by its level.
    using Pieces = std::array<std::size_t, max_levels>;

    PieceTree(Env& env, topo::Hierarchy const& tree, BcastArgs const& a, Pieces const& pieces)
        : env_(env), a_(a), bytes_(a.data.bytes()), slice_(env.staging_bytes() / 4 / cache_line * cache_line),
          pieces_(pieces), place_(place_in_hierarchy(env.frames(), tree, env.rank(), a.root)) {
        for (auto& piece : pieces_) piece = std::clamp<std::size_t>(piece, 1, std::max<std::size_t>(1, bytes_));
    }

    FramePool& frames() { return env_.frames(); }
    Task run() {
        if (bytes_ == 0) co_return;
        if (!place_.children.empty()) {
            way_ = env_.expose(a_.data, layout * slice_, slice_);
            env_.publish();
        }
        if (place_.parent < 0) {
            got_ = bytes_;
        } else {
            co_await env_.until(place_.parent);
            source_ = env_.buffer_of(place_.parent);
        }
        co_await pass_on();
        while (got_ < bytes_) {
            co_await receive();
            co_await pass_on();
        }
        if (place_.parent >= 0) env_.ack(0, last_step);
        for (int child : place_.children) co_await finish(child);
    }

private:
    // Staging memory in quarters: the slices under way, room to unpack from, a layout.
    static constexpr std::size_t depth = 2, bounce = depth, layout = bounce + 1;

    std::size_t working_set() const { return bytes_ * static_cast<std::size_t>(env_.size()); }
    std::size_t end_of(std::uint64_t slice) const { return std::min(bytes_, (slice + 1) * slice_); }
    void stage(std::uint64_t slice) {
        std::size_t const at = slice * slice_;
        env_.stage(env_.staging() + slice % depth * slice_, a_.data, at, end_of(slice) - at);
    }
    void take_slice(std::uint64_t slice) {
        std::byte const* from = env_.staging(place_.parent) + slice % depth * slice_ + (got_ - slice * slice_);
        env_.store(a_.data, got_, from, end_of(slice) - got_);
        got_ = end_of(slice);
    }

    Task receive() {
        std::uint64_t const slice = got_ / slice_;
        if (env_.exposure(place_.parent).way == AccessPath::staged) {
            co_await env_.until_ready(place_.parent, 0, slice + 1);
            take_slice(slice);
            env_.ack(0, slice + 1);
            co_return;
        }
        if (!refused_) {
            std::size_t const piece = pieces_[static_cast<std::size_t>(place_.level)];
            std::uint64_t const number = got_ / piece;
            co_await env_.until_ready(place_.parent, place_.level, number + 1);
            refused_ = !copy(std::min(bytes_, (number + 1) * piece));
            co_return;
        }
        env_.ack(0, slice + 1);
        co_await env_.until_sent(place_.parent, slice + 1);
        take_slice(slice);
    }

    /// Copies up to `end` from the parent's buffer; false when the system refuses, and then what has come counts.
    bool copy(std::size_t end) {
        if (source_) {
            source_.get(a_.data, got_, end - got_, working_set());
            got_ = end;
            return true;
        }
        Exposure const& e = env_.exposure(place_.parent);
        if (e.layout != Exposure::one_piece) return false;
        bool const dense = a_.data.type->dense(a_.data.count);
        while (got_ < end) {
            std::size_t const n = dense ? end - got_ : std::min(slice_, end - got_);
            std::byte* to = dense ? first_byte(a_.data) + got_ : env_.staging() + bounce * slice_;
            if (!env_.fetch(place_.parent, e.address + got_, to, n)) return false;
            if (!dense) env_.store(a_.data, got_, to, n);
            got_ += n;
        }
        return true;
    }

    /// Lets the members have what is there.
    Task pass_on() {
        if (place_.children.empty()) co_return;
        for (; way_ == AccessPath::staged && laid_ * slice_ < got_ && got_ >= end_of(laid_); ++laid_) {
            for (int child : place_.children)
                if (laid_ >= depth) co_await env_.until_ack(child, 0, laid_ - depth + 1);
            stage(laid_);
            env_.ready(0, laid_ + 1);
        }
        for (int i = 0; way_ != AccessPath::staged && i < place_.led(); ++i) {
            auto const level = static_cast<std::size_t>(i);
            std::size_t const piece = pieces_[level];
            std::uint64_t const there = got_ == bytes_ ? (bytes_ + piece - 1) / piece : got_ / piece;
            if (there > said_[level]) env_.ready(i, there);
            said_[level] = there;
        }
    }

    /// Waits until a member has everything, laying out what it asks for meanwhile.
    Task finish(int child) {
        if (way_ == AccessPath::staged) co_await env_.until_ack(child, 0, last_step);
        for (std::uint64_t seen = 0; env_.acked(child, 0) != last_step;) {
            co_await env_.until_ack(child, 0, seen + 1);
            seen = env_.acked(child, 0);
            if (seen == last_step) break;
            stage(seen - 1);
            env_.sent(child, seen);
        }
    }

    Env& env_;
    BcastArgs const& a_;
    std::size_t bytes_, slice_;
    Pieces pieces_;
    LeaderPlace place_;
    AccessPath way_ = AccessPath::staged;          ///< to this rank's buffer
    PeerBuffer<Env> source_;         ///< the parent's, when this rank can load there
    bool refused_ = false;
    std::size_t got_ = 0;            ///< bytes that have arrived, from the start on
    std::uint64_t laid_ = 0;         ///< slices laid out
    std::array<std::uint64_t, max_levels> said_{};   ///< pieces announced
};

}  // namespace tutti::coll
