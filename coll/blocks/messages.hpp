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
// Between nodes: net_messages.hpp. The end of this file describes how a message is cut into segments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coll/env/arguments.hpp"
#include "coll/env/env.hpp"
#include "runtime/datatype/builder.hpp"

namespace tutti::coll {

/// Packed bytes [at, at + bytes) of a user's buffer.
struct MessagePart {
    ConstBuffer buffer;
    std::size_t at, bytes;
};
/// A part that describes packed bytes of the algorithm itself.
MessagePart packed_part(std::byte const* data, std::size_t bytes);
/// Arguments of a broadcast of packed bytes.
BcastArgs bcast_bytes_args(void* data, std::size_t bytes, int root);
/// Arguments of an allgather of packed bytes.
AllgatherArgs allgather_bytes_args(void const* mine, std::size_t bytes, void* all);

/// Stores received data into a user's buffer, from packed byte `position` on. Data that the system copies goes there
/// directly if the buffer is dense. `working_set` as in Copier::copy.
template <class Env>
struct IntoBuffer {
    Env* env;
    Buffer to;
    std::size_t position, working_set;

    std::byte* address() const { return to.type->dense(to.count) ? first_byte(to) + position : nullptr; }
    void operator()(std::byte const* from, std::size_t at, std::size_t n) const {
        if (std::byte* const there = address()) env->copy(there + at, from, n, working_set);
        else env->store(to, position + at, from, n);
    }
};

template <class Env>
class Messages {
public:
    /// Received data is delivered in whole elements of `grain` bytes. Messages of at least `direct` bytes are read in
    /// place if the sender's memory can be loaded, messages of at least `cma` bytes by the system.
    explicit Messages(Env& env, std::size_t grain = 1, std::size_t direct = 4096, std::size_t cma = 32768)
        : env_(env), direct_(direct), cma_(cma), links_(static_cast<std::size_t>(env.size())) {
        std::size_t const size = links_.size(), headers = 2 * size * sizeof(Header);
        std::size_t const room = env.staging_bytes() > headers ? (env.staging_bytes() - headers) / size / 2 : 0;
        grain = std::max<std::size_t>(1, grain);
        piece_ = std::max({grain, cache_line / grain * grain,
                           std::min<std::size_t>(room / cache_line * cache_line, 32768) / grain * grain});
        stride_ = (piece_ + cache_line - 1) / cache_line * cache_line;
        env.reserve_staging(staging_bytes());
        env.add_staging();
    }

    FramePool& frames() { return env_.frames(); }
    /// Bytes of staging memory used by this object, from the start of the staging memory.
    std::size_t staging_bytes() const { return 2 * links_.size() * (sizeof(Header) + stride_); }
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
        for (int peer = 0; peer < env_.size(); ++peer)
            if (link(peer).staged > 0) co_await env_.until_consumed(peer, 2 * link(peer).staged);
    }

private:
    struct alignas(32) Header {
        std::uint64_t address, bytes;
        AccessPath access;
    };
    /// Both directions between this rank and a peer.
    struct Link {
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

    Link& link(int peer) { return links_[static_cast<std::size_t>(peer)]; }
    std::uint64_t pieces_out(int to) { return link(to).pieces; }
    std::uint64_t pieces_in(int from) { return link(from).incoming_pieces; }
    std::uint64_t pieces(std::size_t bytes) const { return std::max<std::uint64_t>(1, (bytes + piece_ - 1) / piece_); }
    static std::size_t slot_of(int peer, std::uint64_t event) { return 2 * static_cast<std::size_t>(peer) + event % 2; }
    Header& header_at(std::byte* staging, int peer, std::uint64_t event) const {
        return reinterpret_cast<Header*>(staging)[slot_of(peer, event)];
    }
    std::byte* buffer(std::byte* staging, int peer, std::uint64_t event) const {
        return staging + 2 * links_.size() * sizeof(Header) + slot_of(peer, event) * stride_;
    }

    /// Returns the access path for a part that peers may read in place, or `staged` if it is to be copied.
    AccessPath access_of(MessagePart const& part) {
        if (part.bytes < direct_ || !part.buffer.type->dense(part.buffer.count)) return AccessPath::staged;
        AccessPath const access = env_.access_path(first_byte(part.buffer) + part.at, part.bytes);
        return access == AccessPath::cma && part.bytes < cma_ ? AccessPath::staged : access;
    }

    void stage(int to, std::uint64_t k) {
        Link& l = link(to);
        std::size_t const at = k * piece_, n = std::min(piece_, l.out.bytes - at);
        env_.stage(buffer(env_.staging(), to, l.staged + 1), l.out.buffer, l.out.at + at, n);
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
        header_at(env_.staging(), to, event) = {address, part.bytes, access};
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
        Header const header = header_at(env_.staging_of(from), env_.rank(), event);
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
        if (std::byte const* there = env_.reach(from, header.address, header.bytes)) {
            env_.count_message(from);
            use(static_cast<std::byte const*>(there), std::size_t{0}, wanted);
            return true;
        }
        if constexpr (std::is_same_v<Use, Into>)
            if (std::byte* const address = use.address()) return env_.fetch(from, header.address, address, wanted);
        bounce_.resize(piece_);
        for (std::size_t& at = link(from).used; at < wanted;) {
            std::size_t const n = std::min(piece_, wanted - at);
            if (!env_.fetch(from, header.address + at, bounce_.data(), n)) return false;
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
        std::byte const* piece = buffer(env_.staging(from), env_.rank(), event);
        if (l.arrived >= l.used && l.arrived <= l.wanted) use(piece, l.arrived, std::min(n, l.wanted - l.arrived));
        l.arrived += n;
        l.consumed = event;
        env_.consumed(from, 2 * event);
    }

    Env& env_;
    std::size_t direct_, cma_, piece_ = 0, stride_ = 0;
    std::vector<Link> links_;
    std::vector<std::byte> bounce_;   ///< where the system copies to
};

}   // namespace tutti::coll

#include "coll/blocks/net_messages.hpp"

namespace tutti::coll {

inline MessagePart packed_part(std::byte const* data, std::size_t bytes) {
    static auto const byte = TypeBuilder::predefined(Basic::byte_);
    return {{data, static_cast<std::int64_t>(bytes), byte.get()}, 0, bytes};
}

inline BcastArgs bcast_bytes_args(void* data, std::size_t bytes, int root) {
    BcastArgs args{};
    args.data = {data, static_cast<std::int64_t>(bytes), packed_part(nullptr, 0).buffer.type};
    args.root = root;
    return args;
}

inline AllgatherArgs allgather_bytes_args(void const* mine, std::size_t bytes, void* all) {
    Datatype const& byte = *packed_part(nullptr, 0).buffer.type;
    auto const count = static_cast<std::int64_t>(bytes);
    AllgatherArgs args{};
    args.mine = {const_cast<void*>(mine), count, &byte};
    args.parts = Parts::regular(all, count, byte);
    args.max_part_bytes = bytes;
    return args;
}

// Segments: how a message is cut for pipelining.

/// Packed bytes of one element; 1 if the element is empty.
inline std::size_t element_of(ReduceArgs const& a) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(a.type->size()));
}

inline constexpr std::size_t one_segment = ~std::size_t{0};   ///< segment length: one segment for the whole message

/// Segments contain whole elements; there are none if there are no bytes.
struct Segments {
    Segments(std::size_t bytes, std::size_t element, std::size_t segment)
        : total(bytes), length(std::max(element, std::min(segment, bytes) / element * element)),
          count((bytes + length - 1) / length) {}
    std::size_t at(std::uint64_t k) const { return k * length; }
    std::size_t bytes(std::uint64_t k) const { return std::min(length, total - at(k)); }
    /// The part of a reduction, cut into these segments, that covers segment k.
    ReduceArgs slice(ReduceArgs const& a, std::uint64_t k) const {
        return a.slice(static_cast<std::int64_t>(at(k)) / a.type->size(),
                       static_cast<std::int64_t>(bytes(k)) / a.type->size());
    }
    std::size_t total, length;
    std::uint64_t count;
};

}   // namespace tutti::coll
