// SPDX-License-Identifier: BSD-3-Clause
// Parts between pairs of ranks that their senders write: the opposite direction of Exchange. Every receiver describes
// once, out of band, where the parts for it belong; every sender, once it sees that, writes its part there. All senders
// write concurrently, each beginning with another receiver; a counter signals completion.
//
//     SenderWriting w(env, spec, min_bytes, piece);
//     co_await w.run(own);     own: this rank's part for itself; null: it has none, or is in place
//     w.check();
//
// Parts below `min_bytes` bytes, parts that are too long for their buffer, and parts that the system refuses to write
// are streamed through their sender's staging memory, in rounds as in Exchange, and terminate for the same reason.
// Bytes: n per part that is written, 2n per streamed part. KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres,
// Dongarra), section III.B (direction control) and V.B (gather).
#pragma once

#include "coll/blocks/exchange.hpp"

namespace tutti::coll {

template <class Env>
class SenderWriting {
public:
    SenderWriting(Env& env, ExchangeSpec const& spec, std::size_t min_bytes, std::size_t piece)
        : env_(env), spec_(spec), min_bytes_(min_bytes), staging_(env, piece),
          sizes_at_((env.staging_bytes() + cache_line - 1) / cache_line * cache_line),
          streamed_(static_cast<std::size_t>(env.size()), env.frames()),
          streams_(env, staging_, truncation_, refused, 0) {
        env.reserve_staging(sizes_at_ + streamed_.size() * sizeof(std::uint64_t));
    }

    FramePool& frames() { return env_.frames(); }
    Truncation const& truncation() const { return truncation_; }
    void check() const { truncation_.check(env_); }

    Task run(Buffer const* own) {
        int const size = env_.size(), rank = env_.rank();
        post();
        if (own) deliver_own(env_, spec_.in[rank], *own, working_set(own->bytes()), truncation_);
        for (int i = 1; i < size; ++i) {
            int const peer = (rank + i) % size;
            if (!spec_.has_part(rank, peer)) continue;
            co_await env_.until(peer);
            write(peer);
        }
        for (int round = 0; round < size; ++round) {
            int const peer = (round - rank + size) % size;
            if (peer != rank) co_await stream(peer);
        }
        co_await streams_.drain();
    }

private:
    std::uint64_t* sizes_of(std::byte* staging) { return reinterpret_cast<std::uint64_t*>(staging + sizes_at_); }
    /// The memory that all ranks touch if all parts have this size.
    std::size_t working_set(std::size_t part) const {
        auto const p = static_cast<std::size_t>(env_.size());
        return 2 * part * p * (spec_.pattern == Pattern::all ? p : 1);
    }

    void post() {
        int const rank = env_.rank();
        Entry* const targets = reinterpret_cast<Entry*>(env_.slot(env_.slot_bytes()));
        env_.expose_staged();
        for (int peer = 0; peer < env_.size(); ++peer) {
            if (peer == rank) continue;
            if (spec_.has_part(peer, rank))
                targets[peer] = staging_.try_expose(spec_.in[peer], {0, staging_.piece(), 0, true});
            if (spec_.has_part(rank, peer)) sizes_of(env_.staging())[peer] = spec_.out[peer].bytes();
        }
        env_.publish();
    }

    /// Writes this rank's part for a peer, or marks it to be streamed. Must be called after until(peer).
    void write(int peer) {
        Entry const& there = reinterpret_cast<Entry const*>(env_.peek(peer, env_.slot_bytes()))[env_.rank()];
        Buffer const part = spec_.out[peer];
        std::size_t const n = part.bytes();
        bool const written =
            n == 0 || (n >= min_bytes_ && n <= there.bytes && there.is_exposed() && put(peer, there, part));
        streamed_[static_cast<std::size_t>(peer)] = !written;
        env_.sent(peer, written ? all_transferred : refused);
    }
    bool put(int peer, Entry const& there, Buffer const& part) {
        std::size_t const n = part.bytes();
        if (PeerBuffer<Env> const buffer = peer_part(env_, peer, there)) {
            buffer.put(part, 0, n, working_set(n));
            return true;
        }
        if (there.location == PartLocation::layout) return false;
        TypedMemory const mine = typed_memory(part);
        if (there.has_gaps()) return env_.put_segments(peer, peer_segments(env_, peer, there).memory, mine, 0, n);
        if (part.type->dense(part.count)) return env_.put(peer, there.at, first_byte(part), n);
        return env_.put_segments(peer, ContiguousMemory(there.at, n), mine, 0, n);
    }

    /// Both directions between this rank and a peer, for parts that go through staging memory.
    Task stream(int peer) {
        int const rank = env_.rank();
        typename PairStreams<Env>::Direction out, in;
        if (spec_.has_part(rank, peer) && streamed_[static_cast<std::size_t>(peer)])
            out = stream_of(spec_.out[peer], spec_.out[peer].bytes());
        if (spec_.has_part(peer, rank)) {
            co_await env_.until_sent(peer, all_transferred);
            if (env_.sent_by(peer) >= refused) in = stream_of(spec_.in[peer], sizes_of(env_.staging_of(peer))[rank]);
        }
        co_await streams_.run(peer, out, in);
    }
    typename PairStreams<Env>::Direction stream_of(Buffer const& part, std::size_t bytes) const {
        Entry const e = staging_.entry(bytes, 0, PartLocation::stream);
        return {part, e, e.pieces()};
    }

    Env& env_;
    ExchangeSpec spec_;
    std::size_t min_bytes_;
    Staging<Env> staging_;
    std::size_t sizes_at_;   ///< offset in staging memory of the sizes of this rank's parts, by receiver
    Truncation truncation_;
    PooledVector<bool> streamed_;   ///< the peers that receive their part as a stream
    PairStreams<Env> streams_;
};

}   // namespace tutti::coll
