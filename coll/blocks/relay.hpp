// SPDX-License-Identifier: BSD-3-Clause
// Exchanges between the ranks of several nodes through bounded memory: CarriedParts (gather and scatter) and RelayPlan
// (exchanges between all nodes). The amount of data in flight is limited by a node's memory for it, whatever the number
// of ranks and the sizes of their parts.
#pragma once

#include <algorithm>
#include <cstddef>

#include "coll/blocks/block_row.hpp"
#include "coll/blocks/nodes.hpp"
#include "coll/env/arguments.hpp"
#include "coll/env/group_layout.hpp"

namespace tutti::coll {

inline constexpr Parameter memory_parameter = {
    "memory", 16 << 20, "memory per node, in bytes, for parts in flight of all its ranks together"};

/// Number of links between two nodes for parts that use more than one: each link is between a rank here and a rank
/// there.
inline constexpr std::size_t links_per_node_pair = 2;

/// Returns the size of each of `pieces` pieces in flight, in bytes; at least a few bytes, because smaller steps are not
/// worth their messages.
constexpr std::size_t bytes_per_piece(std::size_t memory, std::size_t pieces) {
    constexpr std::size_t min_piece = 8;
    return std::max(min_piece, memory / std::max<std::size_t>(pieces, 1));
}

// CarriedParts: the large parts of a node's ranks on their way to a rank of another node, or from it, over a few links.
// A few ranks of the node, its carriers, relay the other ranks' parts in pieces, for which they have bounded memory.
// Carrier l carries the parts of the ranks whose index on the node is l modulo the number of carriers, its own first,
// part after part.
//
// Why it terminates: both ends of each message know the sizes of all parts, hence which messages there are and their
// order. A carrier waits only for pieces whose senders wait for nothing but their receiver.

/// Parameters of gather and scatter between nodes.
inline constexpr Parameter carried_parameters[] = {
    {"direct", 131072, "smallest part, in bytes, for which a few ranks relay their node's parts in pieces"},
    memory_parameter};

/// The threshold in bytes: if one part of a node with `ranks` ranks has at least this size, all parts of the node go in
/// pieces. For smaller parts the root has room for those of a few nodes at a time.
inline std::size_t carry_threshold(RootedArgs const& a, std::size_t ranks) {
    constexpr std::size_t nodes = 4;
    return std::min(a.parameters[0], bytes_per_piece(a.parameters[1], nodes * ranks));
}

class CarriedParts {
public:
    /// `ranks`: those of the node; `sizes`: of their parts, in bytes. `memory`: of the node for data in flight, in
    /// bytes.
    CarriedParts(FramePool& frames, std::span<int const> ranks, std::span<std::uint64_t const> sizes,
                 std::size_t memory)
        : frames_(frames), ranks_(ranks), sizes_(sizes.begin(), sizes.end(), frames),
          carriers_(std::min(links_per_node_pair, ranks.size())),
          piece_(bytes_per_piece(memory, slots * links_per_node_pair)) {}
    FramePool& frames() const { return frames_; }

    /// Iterates over the pieces that a carrier carries.
    class Cursor {
    public:
        Cursor(CarriedParts const& parts, std::size_t carrier) : parts_(&parts), index_(carrier) { skip_empty(); }
        bool more() const { return index_ < parts_->ranks_.size(); }
        std::size_t index() const { return index_; }
        int rank() const { return parts_->ranks_[index_]; }
        /// The offset of the piece in the part, and its length.
        std::size_t at() const { return at_; }
        std::size_t bytes() const { return std::min(parts_->piece_, parts_->sizes_[index_] - at_); }
        void next() {
            at_ += bytes();
            skip_empty();
        }

    private:
        void skip_empty() {
            for (; more() && at_ >= parts_->sizes_[index_]; at_ = 0) index_ += parts_->carriers_;
        }
        CarriedParts const* parts_;
        std::size_t index_, at_ = 0;
    };

    /// All pieces in the order in which they are in flight between the carriers and the rank of the other node: one
    /// from each carrier in turn.
    class Order {
    public:
        explicit Order(CarriedParts const& parts) : parts_(parts), all_(parts.frames()) {
            for (std::size_t c = 0; c < parts.carriers_; ++c) all_.emplace_back(parts, c);
            skip();
        }
        bool more() const { return left_ > 0; }
        Cursor const& piece() const { return all_[turn_]; }
        int carrier() const { return parts_.ranks_[turn_]; }
        void next() {
            all_[turn_].next();
            turn_ = (turn_ + 1) % all_.size();
            skip();
        }

    private:
        void skip() {
            for (left_ = all_.size(); left_ > 0 && !all_[turn_].more(); --left_) turn_ = (turn_ + 1) % all_.size();
        }
        CarriedParts const& parts_;
        PooledVector<Cursor> all_;   ///< by carrier
        std::size_t turn_ = 0, left_ = 0;
    };
    /// Number of pieces that the root should have in flight.
    static constexpr std::size_t pipeline_depth = NetFlow::pipeline_depth * links_per_node_pair;

    /// Called by a rank of the node: sends its part `mine` to `root`, a rank of another node, or receives it from
    /// there.
    Task send(NetEnv& env, std::size_t index, Buffer mine, int root) const {
        return index < carriers_ ? carry(env, index, mine, root, true) : exchange_own(env, index, mine, true);
    }
    Task receive(NetEnv& env, std::size_t index, Buffer mine, int root) const {
        return index < carriers_ ? carry(env, index, mine, root, false) : exchange_own(env, index, mine, false);
    }
    /// Called by the root: sends or receives all parts; the part of a rank is all[rank].
    Task send_all(NetEnv& env, Parts const& all) const {
        NetFlow flow(env);
        for (Order order(*this); order.more(); order.next()) {
            Cursor const& c = order.piece();
            flow.send_synchronous({all[c.rank()], c.at(), c.bytes()}, order.carrier());
            co_await flow.wait_sends(pipeline_depth);
        }
        co_await flow.wait_sends();
    }
    Task receive_all(NetEnv& env, Parts const& all) const {
        NetFlow flow(env);
        PooledBytes dropped;
        for (Order order(*this); order.more(); order.next()) {
            Cursor const& c = order.piece();
            flow.expect(destination(all[c.rank()], sizes_[c.index()], c.at(), c.bytes(), dropped), order.carrier());
            co_await flow.wait_receives(pipeline_depth);
        }
        co_await flow.wait_receives();
        flow.check();
    }

private:
    /// Where a piece of a part of `size` bytes goes in a rank's own buffer; if the part is too long, into memory that
    /// is discarded.
    Piece destination(Buffer to, std::size_t size, std::size_t at, std::size_t bytes, PooledBytes& dropped) const {
        if (size <= to.bytes()) return {to, at, bytes};
        if (!dropped) dropped = PooledBytes(frames(), piece_);
        return {packed_buffer(dropped.get(), bytes), 0, bytes};
    }

    static constexpr std::size_t slots =
        2 * NetFlow::pipeline_depth;   ///< half for incoming pieces, half for outgoing ones

    Task carry(NetEnv& env, std::size_t index, Buffer mine, int remote, bool sends) const {
        NetFlow incoming(env), outgoing(env);
        bool const others = index + carriers_ < ranks_.size();
        PooledBytes const memory = others ? PooledBytes(env.frames(), slots * piece_) : PooledBytes();
        PooledBytes dropped;
        auto const piece_for = [&](Cursor const& c, std::size_t number) -> Piece {
            if (c.index() == index) return destination(mine, sizes_[index], c.at(), c.bytes(), dropped);
            return {packed_buffer(memory.get() + number % slots * piece_, c.bytes()), 0, c.bytes()};
        };
        Cursor posted(*this, index);
        std::size_t posted_count = 0, number = 0;
        for (Cursor c(*this, index); c.more(); c.next(), ++number) {
            for (; posted.more() && posted_count < number + NetFlow::pipeline_depth; posted.next(), ++posted_count)
                if (!sends || posted.index() != index)
                    incoming.expect(piece_for(posted, posted_count), sends ? posted.rank() : remote);
            if (!sends || c.index() != index) co_await incoming.wait_oldest_receive();
            if (sends || c.index() != index) outgoing.send_synchronous(piece_for(c, number), sends ? remote : c.rank());
            co_await outgoing.wait_sends(NetFlow::pipeline_depth);
        }
        co_await outgoing.wait_sends();
        incoming.check();
    }
    Task exchange_own(NetEnv& env, std::size_t index, Buffer mine, bool sends) const {
        NetFlow flow(env);
        int const carrier = ranks_[index % carriers_];
        PooledBytes dropped;
        for (std::size_t at = 0; at < sizes_[index]; at += piece_) {
            std::size_t const bytes = std::min<std::size_t>(piece_, sizes_[index] - at);
            Piece const piece = destination(mine, sizes_[index], at, bytes, dropped);
            if (sends) flow.send_synchronous(piece, carrier);
            else flow.expect(piece, carrier);
            co_await flow.wait_sends(NetFlow::pipeline_depth);
            co_await flow.wait_receives(NetFlow::pipeline_depth);
        }
        co_await flow.wait_sends();
        co_await flow.wait_receives();
        flow.check();
    }

    FramePool& frames_;
    std::span<int const> ranks_;
    PooledVector<std::uint64_t> sizes_;
    std::size_t carriers_, piece_;
};

// RelayPlan: what ranks must agree on without a message if a few ranks of each node carry everything that its ranks
// have for the ranks of other nodes: which ranks carry, which nodes exchange at the same time, and in which pieces.
//
// Two nodes have `links` carriers each, one pair per link; link l carries what the ranks send whose index is l modulo
// the number of links. The carriers depend on the other node, so that all ranks of a node share that work. In turn g,
// node A exchanges with node (g - A) mod N: both directions of a pair of nodes are active in the same turn. A rank's
// row consists of its parts for the ranks of a node, one after the other; of this row it sends `piece` bytes per round.

class RelayPlan {
public:
    /// `memory`: bytes of a node for data in flight. `min_piece`: pieces are not made smaller than this as long as the
    /// number of nodes that exchange at the same time can be reduced instead.
    RelayPlan(NodePartition const& map, std::size_t memory, std::size_t links, std::size_t min_piece)
        : map_(map), links_(static_cast<int>(std::clamp<std::size_t>(links, 1, 4096))) {
        auto const ranks = static_cast<std::size_t>(map.largest()), nodes = static_cast<std::size_t>(map.count());
        std::size_t const room = memory / copies / ranks;   // for the pieces of one rank
        concurrent_nodes_ = std::clamp<std::size_t>(room / std::max<std::size_t>(min_piece, 1), 1, nodes);
        piece_ = std::max(line, room / concurrent_nodes_ / line * line);
    }

    std::size_t piece() const { return piece_; }
    std::size_t rounds(std::size_t row) const { return (row + piece_ - 1) / piece_; }
    /// Bytes of a row that are sent in a round.
    std::size_t bytes(std::size_t row, std::size_t round) const {
        std::size_t const at = round * piece_;
        return at < row ? std::min(piece_, row - at) : 0;
    }

    int turns() const {
        return (map_.count() + static_cast<int>(concurrent_nodes_) - 1) / static_cast<int>(concurrent_nodes_);
    }
    /// Calls f(peer) for the nodes with which `node` exchanges in a turn.
    template <class F>
    void each_peer(int turn, int node, F f) const {
        int const nodes = map_.count(), n = static_cast<int>(concurrent_nodes_);
        for (int g = turn * n; g < std::min((turn + 1) * n, nodes); ++g)
            if (int const peer = (g - node + nodes) % nodes; peer != node) f(peer);
    }

    int links(int one, int other) const { return std::min({links_, map_.size(one), map_.size(other)}); }
    /// The rank of a node that carries the data to and from a peer node on a link.
    int carrier(int node, int peer, int link) const {
        auto const members = map_.members(node);
        std::size_t const spacing = members.size() / static_cast<std::size_t>(std::max(few, links(node, peer)));
        std::size_t const position =
            static_cast<std::size_t>(peer) + static_cast<std::size_t>(link) * std::max<std::size_t>(spacing, 1);
        return members[position % members.size()];
    }
    /// The ranks of a node whose parts for a peer node a link carries.
    PooledVector<int> sources(FramePool& frames, int node, int peer, int link) const {
        PooledVector<int> all(frames);
        for (int i = link; i < map_.size(node); i += links(node, peer))
            all.push_back(map_.members(node)[static_cast<std::size_t>(i)]);
        return all;
    }
    int link_of(int source, int peer) const { return map_.index_of(source) % links(map_.part_of(source), peer); }

    /// The position of a source's part for a rank in its row: the ranks of a node begin with different parts, and two
    /// ranks on nodes of equal size send to each other from the same position of their rows.
    int part_position(int source, int target) const {
        return (map_.index_of(source) + map_.index_of(target)) % map_.size(map_.part_of(target));
    }
    int target(int source, int node, int part) const {
        int const ranks = map_.size(node);
        return map_.members(node)[static_cast<std::size_t>((part + ranks - map_.index_of(source) % ranks) % ranks)];
    }

private:
    /// Copies of the data of a round: packed at its source, two rounds at a carrier for incoming and outgoing data and
    /// as many at the other carrier, sorted by receiver there, packed at its receiver; and data that arrives early.
    static constexpr std::size_t copies = 8;
    static constexpr int few = 4;             // links: with fewer, the carriers do not depend on their number
    static constexpr std::size_t line = 64;   // minimum size of a piece in bytes

    NodePartition const& map_;
    int const links_;
    std::size_t concurrent_nodes_, piece_;   ///< number of nodes that exchange with a node at the same time; bytes
};

/// The parts of a rank for the ranks of a node, one after the other: the offset of each.
class RelayRow {
public:
    /// Describes equal parts of `each` bytes.
    RelayRow(FramePool& frames, std::size_t each, std::size_t parts) : each_(each), parts_(parts), starts_(frames) {}
    RelayRow(FramePool& frames, std::span<std::uint64_t const> sizes) : parts_(sizes.size()), starts_(frames) {
        starts_.reserve(parts_ + 1);
        starts_.push_back(0);
        for (std::uint64_t n : sizes) starts_.push_back(starts_.back() + n);
    }
    std::size_t start(std::size_t part) const { return starts_.empty() ? part * each_ : starts_[part]; }
    std::size_t bytes(std::size_t part) const { return start(part + 1) - start(part); }
    std::size_t bytes() const { return start(parts_); }

    /// Calls f(part, offset in the part, bytes) for the contents of bytes [at, end) of the row.
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
    PooledVector<std::uint64_t> starts_;   ///< empty for equal parts
};

}   // namespace tutti::coll
