// SPDX-License-Identifier: BSD-3-Clause
// The large parts of a node's ranks on their way to a rank of another node, or from it, over a few links: a few ranks
// of the node, its carriers, hand on the others' parts in pieces, for which they have bounded memory. Carrier l carries
// the parts of the ranks whose index on the node is l modulo the number of carriers, its own first, part after part.
//
// Why it ends: both ends of each message know the sizes of all parts, and so which messages there are and their order.
// A carrier only waits for pieces that their senders send without waiting for anything but their receiver.
#pragma once

#include "coll/blocks/messages/block_row.hpp"
#include "coll/blocks/nodes/net_flow.hpp"
#include "coll/blocks/nodes/node_memory.hpp"
#include "coll/env/division.hpp"

namespace tutti::coll {

/// Of gather and scatter between nodes.
inline constexpr Parameter carried_parameters[] = {
    {"direct", 131072, "bytes from which on the parts of a node go in pieces, by a few of its ranks"},
    memory_parameter};

/// Bytes from which on a part of a node of so many ranks, and all others of the node, go in pieces. Of smaller ones the
/// root has room for a few nodes' at a time.
inline std::size_t carried_from(RootedArgs const& a, std::size_t ranks) {
    constexpr std::size_t nodes = 4;
    return std::min(a.parameters[0], part_of_memory(a.parameters[1], nodes * ranks));
}

class CarriedParts {
public:
    /// `ranks`: of the node; `sizes`: of their parts, in bytes. `memory`: of the node for what is under way, in bytes.
    CarriedParts(FramePool& frames, std::span<int const> ranks, std::span<std::uint64_t const> sizes,
                 std::size_t memory)
        : frames_(frames), ranks_(ranks), sizes_(sizes.begin(), sizes.end(), frames),
          carriers_(std::min(links_of_a_pair, ranks.size())), piece_(part_of_memory(memory, slots * links_of_a_pair)) {}
    FramePool& frames() const { return frames_; }

    /// Of the pieces that a carrier carries, one after the other.
    class Cursor {
    public:
        Cursor(CarriedParts const& parts, std::size_t carrier) : parts_(&parts), index_(carrier) { skip_empty(); }
        bool more() const { return index_ < parts_->ranks_.size(); }
        std::size_t index() const { return index_; }
        int rank() const { return parts_->ranks_[index_]; }
        /// Where in the part the piece begins, and how long it is.
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

    /// All pieces in the order in which they are under way between the carriers and the rank of the other node: one of
    /// each carrier in turn.
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
    /// Pieces that the root should have under way.
    static constexpr std::size_t ahead = NetFlow::ahead * links_of_a_pair;

    /// What a rank of the node does: its part `mine` goes to `root`, a rank of another node, or comes from it.
    Task send(NetEnv& env, std::size_t index, Buffer mine, int root) const {
        return index < carriers_ ? carry(env, index, mine, root, true) : exchange_own(env, index, mine, true);
    }
    Task receive(NetEnv& env, std::size_t index, Buffer mine, int root) const {
        return index < carriers_ ? carry(env, index, mine, root, false) : exchange_own(env, index, mine, false);
    }
    /// And what the root does, whose part for a rank is all[rank].
    Task send_all(NetEnv& env, Parts const& all) const {
        NetFlow flow(env);
        for (Order order(*this); order.more(); order.next()) {
            Cursor const& c = order.piece();
            flow.send_when_asked({all[c.rank()], c.at(), c.bytes()}, order.carrier());
            co_await flow.sent(ahead);
        }
        co_await flow.sent();
    }
    Task receive_all(NetEnv& env, Parts const& all) const {
        NetFlow flow(env);
        PooledBytes dropped;
        for (Order order(*this); order.more(); order.next()) {
            Cursor const& c = order.piece();
            flow.expect(place_in(all[c.rank()], sizes_[c.index()], c.at(), c.bytes(), dropped), order.carrier());
            co_await flow.arrived(ahead);
        }
        co_await flow.arrived();
        flow.check();
    }

private:
    /// Where a piece of a part of `size` bytes goes in a rank's own buffer; if the part is too long, nowhere of use.
    Piece place_in(Buffer to, std::size_t size, std::size_t at, std::size_t bytes, PooledBytes& dropped) const {
        if (size <= to.bytes()) return {to, at, bytes};
        if (!dropped) dropped = PooledBytes(frames(), piece_);
        return {packed_buffer(dropped.get(), bytes), 0, bytes};
    }

    static constexpr std::size_t slots = 2 * NetFlow::ahead;   ///< half of them coming in, half of them going out

    Task carry(NetEnv& env, std::size_t me, Buffer mine, int far, bool out) const {
        NetFlow in(env), on(env);
        bool const others = me + carriers_ < ranks_.size();
        PooledBytes const memory = others ? PooledBytes(env.frames(), slots * piece_) : PooledBytes();
        PooledBytes dropped;
        auto const place = [&](Cursor const& c, std::size_t number) -> Piece {
            if (c.index() == me) return place_in(mine, sizes_[me], c.at(), c.bytes(), dropped);
            return {packed_buffer(memory.get() + number % slots * piece_, c.bytes()), 0, c.bytes()};
        };
        Cursor asked(*this, me);
        std::size_t asked_for = 0, number = 0;
        for (Cursor c(*this, me); c.more(); c.next(), ++number) {
            for (; asked.more() && asked_for < number + NetFlow::ahead; asked.next(), ++asked_for)
                if (!out || asked.index() != me) in.expect(place(asked, asked_for), out ? asked.rank() : far);
            if (!out || c.index() != me) co_await in.arrive();
            if (out || c.index() != me) on.send_when_asked(place(c, number), out ? far : c.rank());
            co_await on.sent(NetFlow::ahead);
        }
        co_await on.sent();
        in.check();
    }
    Task exchange_own(NetEnv& env, std::size_t index, Buffer mine, bool out) const {
        NetFlow flow(env);
        int const carrier = ranks_[index % carriers_];
        PooledBytes dropped;
        for (std::size_t at = 0; at < sizes_[index]; at += piece_) {
            std::size_t const bytes = std::min<std::size_t>(piece_, sizes_[index] - at);
            Piece const piece = place_in(mine, sizes_[index], at, bytes, dropped);
            if (out) flow.send_when_asked(piece, carrier);
            else flow.expect(piece, carrier);
            co_await flow.sent(NetFlow::ahead);
            co_await flow.arrived(NetFlow::ahead);
        }
        co_await flow.sent();
        co_await flow.arrived();
        flow.check();
    }

    FramePool& frames_;
    std::span<int const> ranks_;
    PooledVector<std::uint64_t> sizes_;
    std::size_t carriers_, piece_;
};

}   // namespace tutti::coll
