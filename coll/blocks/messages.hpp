// SPDX-License-Identifier: BSD-3-Clause
// Messages between pairs of ranks inside one operation, for algorithms that the literature describes with send and
// receive. Messages of a pair are ordered and have any layout. They take one copy where a single-copy method permits
// it; otherwise they are sent in pieces through the sender's staging memory.
//
//     Messages<Env> m(env);
//     co_await m.send(peer, {buffer, at, bytes});
//     co_await m.receive(peer, bytes, [&](std::byte const* from, std::size_t at, std::size_t n) { … });
//     co_await m.exchange(to, part, from, bytes, use);   send and receive concurrently: rings, doubling
//     co_await m.exchange_all(peers, peers, part, limit, use);   with several peers concurrently
//     co_await m.start(peer, part); … m.finish(peer);    a send in two halves, with other communication in between
//     co_await m.post(peer, part); …                     several sends without waiting, if fits(bytes)
//     co_await m.close();                                always last: waits until no peer needs this rank's memory
//
// Protocol: each direction of a pair is a sequence of events 1, 2, …: a header (a message, with its first piece if it
// is staged) or a further piece. Event e uses header and buffer e mod 2 of the pair. `sent` counts the events that have
// been staged; `consumed` is 2 e when the receiver has finished with event e, and 2 e − 1 when it cannot access what
// the header exposes: the message then follows in pieces. Event e may be staged once event e − 2 is finished, so
// nothing is overwritten early.
//
// Why it terminates: in exchange, a rank answers the header of `from` before it waits for an answer from `to`, and
// stages piece k before it consumes piece k; the rank that has progressed least waits only for earlier actions of
// others. Sends and receives must be ordered so that no cycle of ranks waits (a tree, a chain), as with MPI_Ssend.
// Posts of messages that fit do not wait.
//
// Memory: a rank keeps state for the peers with which it communicates, and staging memory for those to which it sends;
// more is taken for the operation when it is needed. Its headers are in blocks, a list that begins where the rank
// exposes its staging memory: each block has the numbers of some peers, in the order of the first message to them, and
// two headers for each. A header contains the location of the piece, whose buffer is allocated when the first piece of
// that size is sent. Why a peer finds its headers: it has seen `sent` (release and acquire), before which everything up
// to its own number has been written; it reads no further, where the sender may be adding peers. What has been written
// up to there never changes, except for headers and buffers, which are reused as stated above.
//
// Between nodes: net_messages.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "coll/blocks/message_parts.hpp"
#include "coll/env/env.hpp"

namespace tutti::coll {

template <class Env>
class Messages {
public:
    explicit Messages(Env& env, std::size_t grain = 1) : Messages(env, MessageOptions{.grain = grain}) {}
    Messages(Env& env, MessageOptions const& options)
        : env_(env), direct_(options.direct), cma_(options.cma), reserved_(options.reserved), links_(env.frames()) {
        std::size_t const grain = std::max<std::size_t>(1, options.grain);
        piece_ = std::max(grain, options.piece / grain * grain);
        std::size_t const bytes = std::max(env.staging_bytes(), options.reserved + Block::bytes(first_block_peers));
        env.reserve_staging(bytes);
        env.add_staging();
        free_ = {env.exposure(env.rank()).staging + options.reserved, bytes - options.reserved};
        last_block_ = add_block(first_block_peers);
    }

    FramePool& frames() { return env_.frames(); }
    /// True if a message of this size may be posted to several peers before any of them receives it. The same at all
    /// ranks.
    bool fits(std::size_t bytes) const { return bytes <= piece_; }

    /// Returns when the buffer may be modified again.
    Task send(int to, MessagePart part) {
        co_await stage_or_expose(to, part);
        co_await finish(to);
    }

    /// A send in two halves, to let several peers read concurrently or the next message arrive: the peer may read the
    /// buffer until `finish` returns, and only one message per peer may be in flight. `finish` without a message does
    /// nothing.
    Task start(int to, MessagePart part) { return stage_or_expose(to, part); }
    Task finish(int to) {
        co_await await_answer(to);
        for (std::uint64_t k = link(to).next; k < pieces_out(to); ++k) co_await send_piece(to, k);
    }

    /// Calls `use(from, at, n)` for each part of the message as it arrives, in order: n bytes at `from` are the
    /// message's bytes from `at` on. (The memory is the sender's, or staging memory.) Bytes beyond `bytes` are dropped;
    /// see received().
    template <class Use>
    Task receive(int from, std::size_t bytes, Use use) {
        co_await receive_header(from, bytes, use);
        for (std::uint64_t k = 0; k < pieces_in(from); ++k) co_await receive_piece(from, k, use);
    }

    /// Sends to one peer and receives from the same or another, concurrently.
    template <class Use>
    Task exchange(int to, MessagePart part, int from, std::size_t bytes, Use use) {
        co_await stage_or_expose(to, part);
        co_await receive_header(from, bytes, use);
        co_await await_answer(to);
        for (std::uint64_t k = 0; k < pieces_out(to) || k < pieces_in(from); ++k) {
            if (k >= link(to).next && k < pieces_out(to)) co_await send_piece(to, k);
            if (k < pieces_in(from)) co_await receive_piece(from, k, use);
        }
    }

    /// Sends a message to each of `peers` and receives one from each, all concurrently: part(to) is the outgoing
    /// message, limit(from) the maximum size of the incoming one, use(from) as for receive. No piece is received before
    /// the piece that goes to the same peer has been staged: with messages of one size that are never exposed, a buffer
    /// may be exchanged in place.
    template <class Part, class Limit, class Use>
    Task exchange_all(std::span<int const> destinations, std::span<int const> sources, Part part, Limit limit,
                      Use use) {
        for (int to : destinations) co_await stage_or_expose(to, part(to));
        for (int from : sources) co_await receive_header(from, limit(from), use(from));
        std::uint64_t max_pieces = 0;
        for (int to : destinations) {
            co_await await_answer(to);
            max_pieces = std::max(max_pieces, pieces_out(to));
        }
        for (int from : sources) max_pieces = std::max(max_pieces, pieces_in(from));
        for (std::uint64_t k = 0; k < max_pieces; ++k) {
            for (int to : destinations)
                if (k >= link(to).next && k < pieces_out(to)) co_await send_piece(to, k);
            for (int from : sources)
                if (k < pieces_in(from)) co_await receive_piece(from, k, use(from));
        }
    }

    /// Size of the last message from a peer in bytes; larger than the requested size if the message was too long.
    std::size_t received(int from) { return link(from).size; }

    /// Sends a message that fits, without waiting for its receiver. The buffer may be modified immediately.
    Task post(int to, MessagePart part) { return stage_or_expose(to, part, false); }

    using Into = IntoBuffer<Env>;
    Into into(Buffer const& to, std::size_t position, std::size_t working_set = 0) {
        return {&env_, to, position, working_set};
    }

    /// Waits until no peer needs this rank's memory. Must be the last call.
    Task close() {
        PooledVector<std::pair<int, std::uint64_t>> staged(frames());
        links_.for_each([&](int peer, Link const& l) { staged.emplace_back(peer, l.staged); });
        for (auto const& [peer, events] : staged)
            if (events > 0) co_await env_.until_consumed(peer, 2 * events);
    }

private:
    /// Of an event. `bytes` and `access` describe a message; a further piece has a location only.
    struct alignas(16) Header {
        std::uint64_t location;   ///< address of the message if it is exposed, else offset of the piece (shared_memory)
        std::uint64_t bytes;
        AccessPath access;
    };
    /// In shared memory: peers and, behind them, two headers for each.
    struct Block {
        std::uint64_t next;       ///< offset of the next block (shared_memory), once this one is full
        std::uint32_t capacity;   ///< number of peers, such that their numbers fill whole lines
        std::int32_t peers[13];   ///< the first of `capacity` numbers

        static constexpr std::size_t bytes(std::size_t peers) {
            return sizeof(Block) + (peers - 13) * sizeof(std::int32_t) + 2 * peers * sizeof(Header);
        }
        Header* headers(std::size_t at) {
            auto* const behind = reinterpret_cast<std::byte*>(peers + capacity);
            return reinterpret_cast<Header*>(behind) + 2 * at;
        }
    };
    static constexpr std::size_t first_block_peers = 13;   // each block has 16 k − 3
    static_assert(sizeof(Block) == cache_line && sizeof(Header) == 32);

    /// Both directions between this rank and a peer.
    struct Link {
        Header *headers = nullptr, *peer_headers = nullptr;   ///< for events to the peer, and from it; null: not yet
        std::array<StagingMemory, 2> buffers{};               ///< for pieces to the peer
        std::uint64_t staged = 0, consumed = 0;   ///< events staged for the peer; events of the peer that are finished
        MessagePart out{};                        ///< the message in flight
        bool exposed = false;                     ///< its header exposes it in place
        std::uint64_t next = 0;                   ///< its next piece to stage
        std::uint64_t pieces = 0;                 ///< number of its pieces; 0 if the peer reads it in place
        std::uint64_t incoming_pieces = 0;        ///< pieces of the peer's message that are still to arrive
        std::size_t arrived = 0, size = 0;        ///< bytes of it that have arrived, and in total
        std::size_t wanted = 0;                   ///< bytes of it that are wanted
        std::size_t used = 0;                     ///< bytes received before the system refused the rest
    };

    /// A reference is valid until another peer's first use, hence not across an await in which this rank communicates.
    Link& link(int peer) { return links_[peer]; }
    std::uint64_t pieces_out(int to) { return link(to).pieces; }
    std::uint64_t pieces_in(int from) { return link(from).incoming_pieces; }
    std::uint64_t pieces(std::size_t bytes) const { return std::max<std::uint64_t>(1, (bytes + piece_ - 1) / piece_); }

    /// Takes shared memory for the rest of the operation. Returns its offset.
    std::uint64_t allocate(std::size_t bytes) {
        bytes = (bytes + cache_line - 1) / cache_line * cache_line;
        if (free_.bytes < bytes) free_ = env_.more_staging(bytes);
        std::uint64_t const offset = free_.offset;
        free_ = {offset + bytes, free_.bytes - bytes};
        return offset;
    }
    /// Adds an empty block to the list.
    Block* add_block(std::size_t capacity) {
        std::uint64_t const offset = allocate(Block::bytes(capacity));
        auto* const block = reinterpret_cast<Block*>(env_.shared_memory(offset));
        block->capacity = static_cast<std::uint32_t>(capacity);
        if (last_block_) last_block_->next = offset;
        block_peers_ = 0;
        return block;
    }
    /// The header of an event to a peer.
    Header& header(int to, std::uint64_t event) {
        Link& l = link(to);
        if (!l.headers) {
            if (block_peers_ == last_block_->capacity) last_block_ = add_block(2 * last_block_->capacity + 3);
            last_block_->peers[block_peers_] = to;
            l.headers = last_block_->headers(block_peers_++);
        }
        return l.headers[event % 2];
    }
    /// The header of an event from a peer, which has been sent.
    Header const& header_from(int from, std::uint64_t event) {
        Link& l = link(from);
        if (!l.peer_headers) {
            auto* block = reinterpret_cast<Block*>(env_.staging_of(from) + reserved_);
            std::uint32_t at = 0;
            while (block->peers[at] != env_.rank())
                if (++at == block->capacity) block = reinterpret_cast<Block*>(env_.shared_memory(block->next)), at = 0;
            l.peer_headers = block->headers(at);
        }
        return l.peer_headers[event % 2];
    }

    /// Returns the access path for a part that peers may read in place, or `staged` if it is to be copied.
    AccessPath access_of(MessagePart const& part) {
        if (part.bytes < direct_ || !part.buffer.type->dense(part.buffer.count)) return AccessPath::staged;
        AccessPath const access = env_.access_path(first_byte(part.buffer) + part.at, part.bytes);
        return access == AccessPath::cma && part.bytes < cma_ ? AccessPath::staged : access;
    }

    /// Copies piece k to a buffer of the next event, which must be free. Buffers grow by doubling at least.
    void stage(int to, std::uint64_t k) {
        Link& l = link(to);
        std::size_t const at = k * piece_, n = std::min(piece_, l.out.bytes - at);
        StagingMemory& buffer = l.buffers[(l.staged + 1) % 2];
        if (buffer.bytes < n) {
            std::size_t const bytes = std::max(n, std::min(piece_, std::max(cache_line, 2 * buffer.bytes)));
            buffer = {allocate(bytes), bytes};
        }
        env_.stage(env_.shared_memory(buffer.offset), l.out.buffer, l.out.at + at, n);
        header(to, l.staged + 1).location = buffer.offset;
        l.next = k + 1;
    }

    /// Stages the header, and the first piece unless the message is exposed in place.
    Task stage_or_expose(int to, MessagePart part, bool may_expose = true) {
        Link& l = link(to);
        std::uint64_t const event = l.staged + 1;
        if (event > 2) co_await env_.until_consumed(to, 2 * (event - 2));
        AccessPath const access = may_expose ? access_of(part) : AccessPath::staged;
        l.out = part;
        l.exposed = access != AccessPath::staged;
        l.next = 0;
        l.pieces = l.exposed ? 0 : pieces(part.bytes);
        std::uint64_t const address =
            l.exposed ? reinterpret_cast<std::uint64_t>(first_byte(part.buffer) + part.at) : 0;
        header(to, event) = {address, part.bytes, access};
        if (!l.exposed) stage(to, 0);
        l.staged = event;
        env_.sent(to, event);
    }

    /// Waits until the peer has read what was exposed, or has answered that it cannot.
    Task await_answer(int to) {
        Link& l = link(to);
        if (!l.exposed) co_return;
        co_await env_.until_consumed(to, 2 * l.staged - 1);
        l.exposed = false;
        if (env_.consumed_by(to) < 2 * l.staged) l.pieces = pieces(l.out.bytes);
    }

    Task send_piece(int to, std::uint64_t k) {
        Link& l = link(to);
        std::uint64_t const event = l.staged + 1;
        // A refusal already finishes the refused event.
        if (event > 2) co_await env_.until_consumed(to, 2 * (event - 2) - 1);
        stage(to, k);
        l.staged = event;
        env_.sent(to, event);
    }

    /// Consumes the header, and with it the message if it is exposed and can be read.
    template <class Use>
    Task receive_header(int from, std::size_t bytes, Use use) {
        Link& l = link(from);
        std::uint64_t const event = l.consumed + 1;
        co_await env_.until_sent(from, event);
        Header const header = header_from(from, event);
        l.size = header.bytes;
        l.wanted = bytes;
        l.arrived = l.used = 0;
        l.incoming_pieces = header.access == AccessPath::staged ? pieces(header.bytes) : 0;
        if (header.access == AccessPath::staged) co_return;
        bool const done = read(from, header, use);
        l.consumed = event;
        env_.consumed(from, done ? 2 * event : 2 * event - 1);
        if (!done) l.incoming_pieces = pieces(header.bytes);
    }

    /// Reads by load, or by the system: directly to its place, or piece by piece through private memory.
    template <class Use>
    bool read(int from, Header const& header, Use& use) {
        std::size_t const wanted = std::min<std::size_t>(header.bytes, link(from).wanted);
        if (std::byte const* there = env_.reach(from, header.location, header.bytes)) {
            env_.count_message(from);
            use(static_cast<std::byte const*>(there), std::size_t{0}, wanted);
            return true;
        }
        if constexpr (std::is_same_v<Use, Into>)
            if (std::byte* const address = use.address()) return env_.fetch(from, header.location, address, wanted);
        bounce_.resize(piece_);
        for (std::size_t& at = link(from).used; at < wanted;) {
            std::size_t const n = std::min(piece_, wanted - at);
            if (!env_.fetch(from, header.location + at, bounce_.data(), n)) return false;
            use(static_cast<std::byte const*>(bounce_.data()), at, n);
            at += n;
        }
        return true;
    }

    template <class Use>
    Task receive_piece(int from, std::uint64_t, Use use) {
        Link& l = link(from);
        std::uint64_t const event = l.consumed + 1;
        co_await env_.until_sent(from, event);
        std::size_t const n = std::min(piece_, l.size - l.arrived);
        std::byte const* const piece = env_.shared_memory(header_from(from, event).location);
        env_.count_message(from);
        if (l.arrived >= l.used && l.arrived <= l.wanted) use(piece, l.arrived, std::min(n, l.wanted - l.arrived));
        l.arrived += n;
        l.consumed = event;
        env_.consumed(from, 2 * event);
    }

    Env& env_;
    std::size_t direct_, cma_, reserved_, piece_ = 0;
    PeerMap<Link> links_;
    StagingMemory free_;              ///< staging memory that is not used yet
    Block* last_block_ = nullptr;     ///< of this rank's list
    std::uint32_t block_peers_ = 0;   ///< number of peers in it
    std::vector<std::byte> bounce_;   ///< where the system copies to
};

}   // namespace tutti::coll

#include "coll/blocks/net_messages.hpp"
