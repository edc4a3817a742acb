// SPDX-License-Identifier: BSD-3-Clause
// Parts exchanged between pairs of ranks, of any size and layout. Used by gather(v), scatter(v) and alltoall(v, w).
//
//     Exchange x(env, spec, limits);
//     x.post();                                             stage or expose the parts for others, publish
//     for each peer that sends: co_await env.until(peer), x.receive(peer);
//     if (x.unfinished()) co_await x.finish();              stream; wait until others have received this rank's parts
//     x.check();
//
// Bytes: small parts are copied into and out of the slot or the staging memory (2n); large contiguous parts are read by
// the receiver (n) in rotated order, so that no two ranks read from the same rank at the same time (KNEM-Coll, section
// V.C). In operations that suspend, parts that are in arenas on both sides are copied by both (Environment::share): a
// rank that waits copies for a peer that computes. In a scatter in place, the root itself writes 1/p of each part if
// both sides are in arenas.
//
// Why it terminates: post and receive wait only for a peer's post. Streams proceed in p rounds; in round i, ranks a
// and b with a + b = i (mod p) serve each other, and in step k each writes piece k, then reads piece k. A rank at (i,
// k) waits only for what its partner does at earlier positions of this order, so the rank that has progressed least can
// always continue.
#pragma once

#include "coll/blocks/movement.hpp"

namespace tutti::coll {

/// Which ranks send parts to which.
enum class Pattern { to_root, from_root, all };

/// An operation as seen by one rank. The part of a rank for itself is handled separately (copy_own).
struct ExchangeSpec {
    Pattern pattern;
    int root;   ///< of the rooted patterns
    Parts out, in;
    bool equal_parts = false;   ///< all `out` parts have the same size
    bool in_place = false;      ///< `out` and `in` are the same memory: a part is read before it is overwritten
    std::size_t min_shared_part =
        0;   ///< from_root: the smallest part, in bytes, of which the root may copy a share; 0: never
    bool root_copies = false;   ///< from_root, at the root: it helps
    bool either_side = false;   ///< pattern `all`, same at all ranks: tables also describe where incoming parts go

    bool has_part(int from, int to) const {
        return pattern == Pattern::all || (pattern == Pattern::to_root ? to == root : from == root);
    }
};

/// Streams between this rank and its peers, one pair at a time, through the second half of the staging memory: in step
/// k each side stages piece k of its part for the other once the buffer is free, then consumes piece k of the other's
/// part.
template <class Env>
class PairStreams {
public:
    /// The values of the counters `sent` and `consumed` before the first piece.
    PairStreams(Env& env, Staging<Env>& staging, Truncation& truncation, std::uint64_t sent_base,
                std::uint64_t consumed_base)
        : env_(env), staging_(staging), truncation_(truncation), sent_base_(sent_base), consumed_base_(consumed_base) {}
    FramePool& frames() { return env_.frames(); }

    /// One direction; no pieces: nothing is sent.
    struct Direction {
        Buffer part{};
        Entry entry{};
        std::uint64_t pieces = 0;

        std::size_t offset(std::uint64_t k) const { return k * entry.piece; }
        std::size_t bytes(std::uint64_t k) const { return std::min<std::size_t>(entry.piece, entry.bytes - offset(k)); }
    };

    Task run(int peer, Direction out, Direction in) {
        for (std::uint64_t k = 0; k < std::max(out.pieces, in.pieces); ++k) {
            if (k < out.pieces) {
                BufferUse& last = last_use_[k % 2];
                if (last.peer >= 0) co_await env_.until_consumed(last.peer, last.value);
                env_.stage(staging_.buffer(k), out.part, out.offset(k), out.bytes(k));
                env_.sent(peer, sent_base_ + k + 1);
                last = {peer, consumed_base_ + k + 1};
            }
            if (k < in.pieces) {
                co_await env_.until_sent(peer, sent_base_ + k + 1);
                deliver(env_, in.part, in.offset(k), staging_.buffer(peer, in.entry, k), in.bytes(k), in.entry.bytes,
                        peer, truncation_);
                env_.consumed(peer, consumed_base_ + k + 1);
            }
        }
    }
    /// Waits until all readers have released the buffers.
    Task drain() {
        for (BufferUse const& last : last_use_)
            if (last.peer >= 0) co_await env_.until_consumed(last.peer, last.value);
    }

private:
    Env& env_;
    Staging<Env>& staging_;
    Truncation& truncation_;
    std::uint64_t sent_base_, consumed_base_;
    struct BufferUse {
        int peer = -1;
        std::uint64_t value = 0;
    } last_use_[2];   ///< last use of each buffer: the reader whose `consumed` counter releases it
};

template <class Env>
class Exchange {
public:
    Exchange(Env& env, ExchangeSpec const& spec, Limits limits)
        : env_(env), spec_(spec), limits_(limits), staging_(env, limits.piece), unreadable_(env.frames()),
          streams_(env, staging_, truncation_, 0, refused) {}

    FramePool& frames() { return env_.frames(); }

    bool sends_to(int peer) const { return spec_.has_part(env_.rank(), peer); }
    bool receives_from(int peer) const { return spec_.has_part(peer, env_.rank()); }

    /// Stages or exposes the parts for the other ranks, and publishes.
    void post();
    void copy_own(ConstBuffer const& own) {
        deliver_own(env_, spec_.in[env_.rank()], own, working_set(own.bytes()), truncation_);
    }
    /// Receives what can be received immediately from a peer. Must be called after until(peer).
    void receive(int peer);
    /// Copies the pieces that a peer has not claimed of its part, if either side may copy.
    void copy_unclaimed(int peer);
    bool unfinished() const { return staging_.outstanding() || remaining_; }
    /// Streams what remains, and waits until other ranks have received this rank's parts.
    Task finish();
    /// Throws if a part was too long for its buffer.
    void check() const { truncation_.check(env_); }

private:
    bool is_to_root() const { return spec_.pattern == Pattern::to_root; }
    /// The number of parts that a sender posts, and the index of the part for `receiver`.
    int posted_parts() const { return is_to_root() ? 1 : env_.size(); }
    int part_index(int receiver) const { return is_to_root() ? 0 : receiver; }
    Entry* my_table() { return reinterpret_cast<Entry*>(env_.slot(env_.slot_bytes())); }
    Entry const* table_of(int rank) {
        return rank == env_.rank() ? my_table() : reinterpret_cast<Entry const*>(env_.peek(rank, env_.slot_bytes()));
    }
    /// Describes where `to` stores the part of `from`.
    Entry const& target(int from, int to) { return table_of(to)[env_.size() + from]; }
    /// True if either side may copy the part. One of the ranks is this one, the other must have published. Both sides
    /// get the same answer.
    bool either_may_copy(int from, int to) {
        int const peer = from == env_.rank() ? to : from;
        if (!spec_.either_side || !posted_table_ || env_.published(peer) != table_step) return false;
        return table_of(from)[to].in_arena() && target(from, to).in_arena();
    }
    CopyPieces pieces(int from, int to) {
        return shared_pieces(transferred_bytes(table_of(from)[to], target(from, to)));
    }
    auto until_shared_copy(int from, int to) {
        return env_.until_done(env_.copy_of_pair(from, to), pieces(from, to), from == env_.rank() ? to : from);
    }
    Entry const& entry_for(int peer) { return my_table()[part_index(peer)]; }
    Entry const& entry_from(int peer) {
        return reinterpret_cast<Entry const*>(env_.peek(peer, env_.slot_bytes()))[part_index(env_.rank())];
    }

    /// The memory that all ranks touch if all parts have this size.
    std::size_t working_set(std::size_t part) const {
        auto const p = static_cast<std::size_t>(env_.size());
        return 2 * part * p * (spec_.pattern == Pattern::all ? p : 1);
    }
    void post_target();
    bool post_packed();
    Entry post(Buffer const& part);
    void receive_now(int peer);
    void receive_entry(int peer, Entry const& e);
    bool read_own_share(int peer, Entry const& e);
    std::span<std::byte> bounce() { return limits_.always_exposes ? std::span<std::byte>{} : staging_.bounce(); }
    Task write_root_shares();
    bool must_stream(int peer);
    std::uint64_t incoming_pieces(int peer);

    Env& env_;
    ExchangeSpec spec_;
    Limits const limits_;
    Staging<Env> staging_;
    Truncation truncation_;
    bool posted_table_ = false, remaining_ = false;
    bool root_copies_share_ = false;   ///< the root writes a share of what this rank receives
    PooledVector<bool> unreadable_;    ///< the peers whose memory could not be read; empty: none
    PairStreams<Env> streams_;
};

/// Posts small parts of equal size: no table is needed, and nothing must be awaited afterwards. Returns false if the
/// parts do not qualify.
template <class Env>
bool Exchange<Env>::post_packed() {
    if (is_to_root()) {
        Buffer const part = spec_.out[spec_.root];
        std::size_t const n = part.bytes();
        if (n > env_.slot_bytes() || (limits_.always_exposes && n >= limits_.direct)) return false;
        env_.load(env_.slot(n), part, 0, n);
        env_.publish(1 + n);
        return true;
    }
    std::size_t const n = spec_.out[env_.rank()].bytes(), size = static_cast<std::size_t>(env_.size());
    if (!spec_.equal_parts || n > env_.slot_bytes() / size) return false;
    std::byte* slot = env_.slot(n * size);
    for (int i = 0; i < env_.size(); ++i)
        if (i != env_.rank()) env_.load(slot + static_cast<std::size_t>(i) * n, spec_.out[i], 0, n);
    env_.publish(1 + n);
    return true;
}

/// Called by a receiver of a scatter: describes to the root where its part belongs.
template <class Env>
void Exchange<Env>::post_target() {
    Buffer const part = spec_.in[spec_.root];
    if (part.bytes() < spec_.min_shared_part) return env_.publish();
    env_.expose_staged();
    my_table()[0] = staging_.try_expose(part, limits_);
    env_.publish(table_step);
}

template <class Env>
void Exchange<Env>::post() {
    bool const sends =
        spec_.pattern == Pattern::all || (env_.rank() == spec_.root) == (spec_.pattern == Pattern::from_root);
    if (!sends && spec_.min_shared_part > 0) post_target();
    if (!sends || post_packed()) return;
    posted_table_ = true;
    staging_.reserve_table(sizeof(Entry) * static_cast<std::size_t>(posted_parts()) * (spec_.either_side ? 2 : 1));
    Entry* table = my_table();
    if (spec_.either_side) {
        staging_.expose();
        for (int i = 0; i < env_.size(); ++i)
            if (i != env_.rank()) table[env_.size() + i] = staging_.try_expose(spec_.in[i], limits_);
    }
    if (is_to_root()) {
        table[0] = post(spec_.out[spec_.root]);
    } else {
        for (int i = 0; i < env_.size(); ++i)
            if (i != env_.rank()) table[i] = post(spec_.out[i]);
    }
    env_.publish(table_step);
}

template <class Env>
Entry Exchange<Env>::post(Buffer const& part) {
    Entry e = staging_.post(part, limits_, !spec_.in_place);
    e.root_copies = e.location != PartLocation::slot && spec_.root_copies;
    return e;
}

template <class Env>
void Exchange<Env>::receive(int peer) {
    if (spec_.in_place && posted_table_ && entry_for(peer).location == PartLocation::stream) {
        remaining_ = true;   // this rank's part for the peer is still where the peer's part must be stored
        return;
    }
    if (!either_may_copy(peer, env_.rank())) return receive_now(peer);
    Entry const& e = entry_from(peer);
    Buffer const to = spec_.in[peer];
    if (e.bytes > to.bytes()) [[unlikely]]
        truncation_.record(peer, e.bytes, to.bytes());
    PeerBuffer<Env> from;   // the owner and its layout may be gone, but not while a piece is left
    auto const read = [&](std::size_t at, std::size_t n) {
        if (!from) from = peer_part(env_, peer, e);
        from.get(to, at, n, working_set(e.bytes));
    };
    env_.share(env_.copy_of_pair(peer, env_.rank()), pieces(peer, env_.rank()), CopyFrom::front, read);
}

template <class Env>
void Exchange<Env>::copy_unclaimed(int peer) {
    if (!either_may_copy(env_.rank(), peer)) return;
    PeerBuffer<Env> to;
    auto const write = [&](std::size_t at, std::size_t n) {
        if (!to) to = peer_part(env_, peer, target(env_.rank(), peer));
        to.put(spec_.out[peer], at, n, working_set(spec_.out[peer].bytes()));
    };
    env_.share(env_.copy_of_pair(env_.rank(), peer), pieces(env_.rank(), peer), CopyFrom::back, write);
}

template <class Env>
void Exchange<Env>::receive_now(int peer) {
    std::uint64_t const step = env_.published(peer);
    if (step == table_step) return receive_entry(peer, entry_from(peer));
    std::size_t const n = step - 1;
    std::byte const* peer_parts = env_.slot(peer, n * static_cast<std::size_t>(posted_parts()));
    deliver(env_, spec_.in[peer], 0, peer_parts + n * static_cast<std::size_t>(part_index(env_.rank())), n, n, peer,
            truncation_);
}

template <class Env>
void Exchange<Env>::receive_entry(int peer, Entry const& e) {
    switch (e.location) {
    case PartLocation::slot:
    case PartLocation::staging:
        staging_.receive(peer, e, spec_.in[peer], truncation_);
        if (e.location == PartLocation::staging) env_.consumed(peer, all_transferred);
        break;
    case PartLocation::memory:
    case PartLocation::arena:
    case PartLocation::layout:
    case PartLocation::segments:
        if (read_own_share(peer, e)) {
            env_.consumed(peer, all_transferred);
        } else if (fetch_part(env_, peer, e, spec_.in[peer], bounce(), working_set(e.bytes), truncation_)) {
            env_.consumed(peer, all_transferred);
        } else {
            remaining_ = true;
            unreadable_.resize(static_cast<std::size_t>(env_.size()));
            unreadable_[static_cast<std::size_t>(peer)] = true;
            env_.consumed(peer, refused);
        }
        break;
    case PartLocation::stream: remaining_ = true; break;
    }
}

/// Reads all but the root's share, if the root has one. Returns false if it has none.
template <class Env>
bool Exchange<Env>::read_own_share(int peer, Entry const& e) {
    Buffer const part = spec_.in[peer];
    if (spec_.min_shared_part == 0 || part.bytes() < spec_.min_shared_part ||
        !root_copies_share(e, my_table()[0], spec_.min_shared_part))
        return false;
    if (e.bytes > part.bytes()) [[unlikely]]
        truncation_.record(peer, e.bytes, part.bytes());
    peer_part(env_, peer, e)
        .get(part, 0, root_share_start(transferred_bytes(e, my_table()[0]), env_.size()), working_set(e.bytes));
    return remaining_ = root_copies_share_ = true;
}

/// Writes the root's shares: first for the ranks that have published, then for the others as they arrive. Uses
/// std::partition because a stable partition allocates.
template <class Env>
Task Exchange<Env>::write_root_shares() {
    PooledVector<int> open(env_.frames());
    for (int i = 1; i < env_.size(); ++i) open.push_back((env_.rank() + i) % env_.size());
    std::erase_if(
        open, [&](int peer) { return !entry_for(peer).in_arena() || entry_for(peer).bytes < spec_.min_shared_part; });
    std::partition(open.begin(), open.end(), [&](int peer) { return env_.published(peer) != 0; });
    for (int peer : open) {
        co_await env_.until(peer);
        if (env_.published(peer) != table_step) continue;
        Entry const& mine = entry_for(peer);
        Entry const& there = *reinterpret_cast<Entry const*>(env_.peek(peer, env_.slot_bytes()));
        if (!root_copies_share(mine, there, spec_.min_shared_part)) continue;
        std::size_t const n = transferred_bytes(mine, there), from = root_share_start(n, env_.size());
        peer_part(env_, peer, there).put(spec_.out[peer], from, n - from, working_set(n));
        env_.sent(peer, all_transferred);
    }
}

template <class Env>
bool Exchange<Env>::must_stream(int peer) {
    Entry const& e = entry_for(peer);
    return e.location == PartLocation::stream || (e.is_exposed() && env_.consumed_by(peer) >= refused);
}

template <class Env>
std::uint64_t Exchange<Env>::incoming_pieces(int peer) {
    if (!receives_from(peer) || env_.published(peer) != table_step) return 0;
    Entry const& e = entry_from(peer);
    bool const wanted =
        e.location == PartLocation::stream || (!unreadable_.empty() && unreadable_[static_cast<std::size_t>(peer)]);
    return wanted ? e.pieces() : 0;
}

template <class Env>
Task Exchange<Env>::finish() {
    int const size = env_.size(), rank = env_.rank();
    if (posted_table_ && spec_.min_shared_part > 0) co_await write_root_shares();
    if (root_copies_share_) co_await env_.until_sent(spec_.root, all_transferred);
    for (int round = 0; round < size; ++round) {
        int const peer = (round - rank + size) % size;
        if (peer == rank) continue;
        if (either_may_copy(peer, rank)) co_await until_shared_copy(peer, rank);
        std::uint64_t to_send = 0;
        if (posted_table_ && sends_to(peer)) {
            if (either_may_copy(rank, peer)) co_await until_shared_copy(rank, peer);
            else if (entry_for(peer).is_exposed()) co_await env_.until_consumed(peer, all_transferred);
            if (must_stream(peer)) to_send = entry_for(peer).pieces();
        }
        std::uint64_t const to_receive = incoming_pieces(peer);
        typename PairStreams<Env>::Direction out, in;
        if (to_send > 0) out = {spec_.out[peer], entry_for(peer), to_send};
        if (to_receive > 0) in = {spec_.in[peer], entry_from(peer), to_receive};
        if (to_send + to_receive > 0) co_await streams_.run(peer, out, in);
        if (spec_.in_place && to_send > 0 && to_receive == 0) receive_now(peer);
    }
    for (int peer = 0; posted_table_ && peer < size; ++peer) {   // all readers have finished with this rank's memory
        if (peer == rank || !sends_to(peer)) continue;
        Entry const& e = entry_for(peer);
        if (e.location == PartLocation::staging) co_await env_.until_consumed(peer, all_transferred);
        if (must_stream(peer)) co_await env_.until_consumed(peer, refused + e.pieces());
    }
}

}   // namespace tutti::coll
