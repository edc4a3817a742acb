// SPDX-License-Identifier: BSD-3-Clause
// KNEM-Coll's broadcast over any number of levels: every leader shows its buffer once, out of band; the members of its
// team copy piece after piece from there, all at the same time, as soon as the leader says that it has the piece, and
// say so when they have all. With one team and one piece it is the linear broadcast. What cannot be shown goes as in
// pulled_slices.hpp. Counters of a shown buffer: ready[l]: pieces of level l that are there.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), sections IV and V.B.
#pragma once

#include <array>

#include "coll/blocks/trees/pulled_slices.hpp"

namespace tutti::coll {

template <class Env>
class PieceTree {
public:
    /// Bytes that a team copies at a time, by its level.
    using Pieces = std::array<std::size_t, max_levels>;

    PieceTree(Env& env, topo::Hierarchy const& tree, BcastArgs const& a, Pieces const& pieces)
        : env_(env), data_(env, a.data, place_in_hierarchy(env.frames(), tree, env.rank(), a.root), ~std::size_t{0}),
          pieces_(pieces) {
        for (auto& piece : pieces_) piece = std::clamp<std::size_t>(piece, 1, std::max<std::size_t>(1, data_.bytes));
    }

    FramePool& frames() { return env_.frames(); }
    Task run() {
        if (data_.bytes == 0) co_return;
        if (!data_.place.children.empty()) {
            data_.show();
            env_.publish();
        }
        if (data_.place.parent < 0) {
            data_.got = data_.bytes;
        } else {
            co_await env_.until(data_.place.parent);
            data_.meet();
        }
        co_await pass_on();
        while (data_.got < data_.bytes) {
            co_await receive();
            co_await pass_on();
        }
        co_await data_.finish();
    }

private:
    Task receive() {
        int const level = data_.place.level, parent = data_.place.parent;
        std::size_t const piece = pieces_[static_cast<std::size_t>(level)], number = data_.got / piece;
        if (!by_slices_ && env_.exposure(parent).way != AccessPath::staged) {
            co_await env_.until_ready(parent, level, number + 1);
            std::size_t const end = std::min(data_.bytes, (number + 1) * piece);
            if (data_.source) data_.load(end);
            else by_slices_ = !data_.fetch(end);
        } else {
            co_await data_.take_slice();
        }
    }

    /// Lets the members have what is there.
    Task pass_on() {
        if (data_.place.children.empty()) co_return;
        if (data_.way == AccessPath::staged) co_await data_.lay_out();
        for (int level = 0; data_.way != AccessPath::staged && level < data_.place.led(); ++level) {
            auto const l = static_cast<std::size_t>(level);
            std::size_t const piece = pieces_[l], whole = (data_.bytes + piece - 1) / piece;
            std::uint64_t const there = data_.got == data_.bytes ? whole : data_.got / piece;
            if (there > said_[l]) env_.ready(level, there);
            said_[l] = there;
        }
    }

    Env& env_;
    PulledSlices<Env> data_;
    Pieces pieces_;
    bool by_slices_ = false;                         ///< single copy has failed
    std::array<std::uint64_t, max_levels> said_{};   ///< pieces announced
};

}   // namespace tutti::coll
