// SPDX-License-Identifier: BSD-3-Clause
// What ranks must agree on, without a message, when a few ranks of each node carry what all of its ranks have for the
// ranks of other nodes: who carries, which nodes exchange at the same time, and in which pieces.
//
// Two nodes have `links` carriers each, a pair of them for every link; link l carries what the ranks with an index of l
// modulo the number of links send. Which ranks carry depends on the other node, so that all ranks of a node have a
// share of that work. Node A exchanges with node (g - A) mod N in turn g: both directions of a pair of nodes are under
// way in the same turn. Of its row, which is its parts for the ranks of a node one after the other, a rank sends
// `piece` bytes in a round.
#pragma once

#include <algorithm>
#include <cstddef>

#include "coll/env/division.hpp"

namespace tutti::coll {

class RelayPlan {
public:
    /// `memory`: bytes that a node has for what is under way. `least`: of fewer bytes no piece is made as long as fewer
    /// nodes can exchange at a time.
    RelayPlan(Division const& map, std::size_t memory, std::size_t links, std::size_t least)
        : map_(map), links_(static_cast<int>(std::clamp<std::size_t>(links, 1, 4096))) {
        auto const ranks = static_cast<std::size_t>(map.largest()), nodes = static_cast<std::size_t>(map.count());
        std::size_t const room = memory / copies / ranks;   // for the pieces of a rank
        at_a_time_ = std::clamp<std::size_t>(room / std::max<std::size_t>(least, 1), 1, nodes);
        piece_ = std::max(line, room / at_a_time_ / line * line);
    }

    std::size_t piece() const { return piece_; }
    std::size_t rounds(std::size_t row) const { return (row + piece_ - 1) / piece_; }
    /// Bytes of a row that go in a round.
    std::size_t bytes(std::size_t row, std::size_t round) const {
        std::size_t const at = round * piece_;
        return at < row ? std::min(piece_, row - at) : 0;
    }

    int turns() const { return (map_.count() + static_cast<int>(at_a_time_) - 1) / static_cast<int>(at_a_time_); }
    /// Calls f(node) for the nodes with which this one exchanges in a turn.
    template <class F>
    void each_peer(int turn, int node, F f) const {
        int const nodes = map_.count(), n = static_cast<int>(at_a_time_);
        for (int g = turn * n; g < std::min((turn + 1) * n, nodes); ++g)
            if (int const peer = (g - node + nodes) % nodes; peer != node) f(peer);
    }

    int links(int one, int other) const { return std::min({links_, map_.size(one), map_.size(other)}); }
    /// The rank of a node that carries what goes to, and comes from, a peer by a link.
    int carrier(int node, int peer, int link) const {
        auto const members = map_.members(node);
        std::size_t const apart = members.size() / static_cast<std::size_t>(std::max(few, links(node, peer)));
        std::size_t const place =
            static_cast<std::size_t>(peer) + static_cast<std::size_t>(link) * std::max<std::size_t>(apart, 1);
        return members[place % members.size()];
    }
    /// The ranks of a node whose parts for a peer a link carries.
    PooledVector<int> sources(FramePool& frames, int node, int peer, int link) const {
        PooledVector<int> all(frames);
        for (int i = link; i < map_.size(node); i += links(node, peer))
            all.push_back(map_.members(node)[static_cast<std::size_t>(i)]);
        return all;
    }
    int link_of(int source, int peer) const { return map_.index_of(source) % links(map_.of(source), peer); }

    /// Which part of its row a source has for a rank: ranks of a node begin with different ones, and two ranks of nodes
    /// of one size send to each other at the same place of their rows.
    int place(int source, int target) const {
        return (map_.index_of(source) + map_.index_of(target)) % map_.size(map_.of(target));
    }
    int target(int source, int node, int place) const {
        int const ranks = map_.size(node);
        return map_.members(node)[static_cast<std::size_t>((place + ranks - map_.index_of(source) % ranks) % ranks)];
    }

private:
    /// Of what is under way in a round: packed at its source, two rounds at a carrier as they come in and go out and as
    /// many at the other one, sorted by receivers there, packed at its receiver; and what arrives early.
    static constexpr std::size_t copies = 8;
    static constexpr int few = 4;             // links: of fewer, each has the same carriers however many there are
    static constexpr std::size_t line = 64;   // so many bytes a piece has at least

    Division const& map_;
    int const links_;
    std::size_t at_a_time_, piece_;   ///< nodes that exchange with a node, bytes
};

/// The parts of a rank for the ranks of a node, one after the other: where each begins.
class RelayRow {
public:
    /// Of equal parts.
    RelayRow(FramePool& frames, std::size_t each, std::size_t parts) : each_(each), parts_(parts), starts_(frames) {}
    RelayRow(FramePool& frames, std::span<std::uint64_t const> sizes) : parts_(sizes.size()), starts_(frames) {
        starts_.reserve(parts_ + 1);
        starts_.push_back(0);
        for (std::uint64_t n : sizes) starts_.push_back(starts_.back() + n);
    }
    std::size_t start(std::size_t part) const { return starts_.empty() ? part * each_ : starts_[part]; }
    std::size_t bytes(std::size_t part) const { return start(part + 1) - start(part); }
    std::size_t bytes() const { return start(parts_); }

    /// Calls f(part, where in the part, bytes) for what lies in bytes [at, end) of the row.
    template <class F>
    void each(std::size_t at, std::size_t end, F f) const {
        while (at < end) {
            std::size_t const part = part_at(at), n = std::min(start(part + 1), end) - at;
            f(part, at - start(part), n);
            at += n;
        }
    }

private:
    std::size_t part_at(std::size_t at) const {
        if (starts_.empty()) return at / each_;
        return static_cast<std::size_t>(std::ranges::upper_bound(starts_, at) - starts_.begin()) - 1;
    }

    std::size_t each_ = 0, parts_;
    PooledVector<std::uint64_t> starts_;   ///< of equal parts none
};

}   // namespace tutti::coll
