// SPDX-License-Identifier: BSD-3-Clause
// Pieces of data on their way between nodes, several at a time: some are asked for before they are wanted, so that they
// come straight to their place while this rank is busy with others or on its node, and some are on their way out. Two
// ranks that exchange pieces cut what they exchange at the same places.
#pragma once

#include <list>
#include <memory>

#include "coll/blocks/exchange/movement.hpp"
#include "coll/blocks/messages/messages.hpp"

namespace tutti::coll {

/// Packed bytes [at, at + bytes) of a buffer. With gaps in the buffer they are copied on their way.
struct Piece {
    Buffer buffer;
    std::size_t at, bytes;

    std::byte* place() const { return buffer.type->dense(buffer.count) ? first_byte(buffer) + at : nullptr; }
};

class NetFlow {
public:
    static constexpr std::size_t ahead = 4;   ///< pieces that a stream should have under way in each direction

    explicit NetFlow(NetEnv& env) : env_(env), in_(env.frames()), out_(env.frames()) {}
    ~NetFlow() {
        for (auto& op : out_) outlive(std::move(op));
    }
    NetFlow(NetFlow const&) = delete;
    NetFlow& operator=(NetFlow const&) = delete;
    FramePool& frames() { return env_.frames(); }

    /// Asks for a piece from a rank. Nobody writes or reads its place until it has arrived.
    void expect(Piece const& piece, int from) {
        in_.emplace_back(env_, piece, from).message.begin(piece.place(), piece.bytes, from);
    }
    /// Waits for the piece that was asked for first, of those that have not arrived.
    Task arrive() {
        List<Expected> first(frames());
        first.splice(first.end(), in_, in_.begin());
        auto const& [message, piece, from] = first.front();
        co_await env_.over(message.op, from);
        truncation_.compare(from, message.bytes(), piece.bytes);
        if (std::byte const* const packed = message.op.packed.get())
            env_.store(piece.buffer, piece.at, packed, message.op.status.bytes);
    }

    /// Waits until at most so many that were asked for have not arrived.
    Task arrived(std::size_t left = 0) {
        while (in_.size() > left) co_await arrive();
    }

    /// A piece goes to a rank; it must stay as it is until it is sent, unless it is copied.
    void send(Piece const& piece, int to, bool copied = false) {
        begin_send(env_, out_, {piece.buffer, piece.at, piece.bytes}, to, copied);
    }
    /// The same where the receiver has many senders and asks for a few pieces at a time: others wait at their senders.
    void send_when_asked(Piece const& piece, int to) {
        begin_send(env_, out_, {piece.buffer, piece.at, piece.bytes}, to, false, p2p::Mode::synchronous);
    }
    /// Waits for the piece that began to leave first, of those on their way.
    Task sent_one() {
        co_await env_.over(*out_.front());
        std::unique_ptr<Outgoing> op = std::move(out_.front());
        out_.pop_front();
        ended(std::move(op));
    }
    /// Waits until at most so many are on their way.
    Task sent(std::size_t left = 0) {
        while (out_.size() > left) co_await sent_one();
    }
    /// Throws if something was longer than its place.
    void check() const { truncation_.check(env_); }

private:
    struct Expected {
        Expected(NetEnv& env, Piece const& p, int source) : message(env), piece(p), from(source) {}
        Arriving message;
        Piece piece;
        int from;
    };

    NetEnv& env_;
    // Lists: most ranks of an operation have nothing to put there, and what is on its way stays where it is.
    template <class T>
    using List = std::list<T, Pooled<T>>;
    List<Expected> in_;
    List<std::unique_ptr<Outgoing>> out_;
    Truncation truncation_;
};

}   // namespace tutti::coll
