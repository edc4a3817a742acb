// SPDX-License-Identifier: BSD-3-Clause
// Parts exchanged between pairs of ranks, of any size and layout. Used by gather(v), scatter(v) and alltoall(v, w).
//
//     Exchange x(env, sides, limits);
//     x.post();                                             stage or expose the parts for others, publish
//     for each peer that sends: co_await env.until(peer), x.take(peer);
//     if (x.unfinished()) co_await x.finish();              stream; wait until others have received this rank's parts
//     x.check();
//
// Bytes: small parts are copied into and out of the slot or the staging memory (2n); large contiguous parts are read by
// the receiver (n) in rotated order, so that no two ranks read from the same rank at the same time (KNEM-Coll, section
// V.C). In operations that suspend, parts that lie in arenas on both sides are copied by the side that arrives first
// (either_side.hpp). In a scatter in place, the root itself writes 1/p of each part if both sides lie in arenas.
//
// Why it terminates: post and take wait for nothing but a peer's post. Streams proceed in p rounds; in round i, ranks a
// and b with a + b = i (mod p) serve each other, and in step k each writes piece k, then reads piece k. A rank at (i,
// k) waits only for what its partner does at earlier positions of this order, so the rank that has progressed least can
// always continue.
#pragma once

#include "coll/blocks/either_side.hpp"
#include "coll/blocks/movement.hpp"

namespace tutti::coll {

/// Which ranks send parts to which.
enum class Pattern { to_root, from_root, all };

/// An operation as seen by one rank. The part of a rank for itself is handled separately (take_own).
struct Sides {
    Pattern pattern;
    int root;   ///< of the rooted patterns
    Parts out, in;
    bool equal = false;      ///< all `out` parts have the same size
    bool in_place = false;   ///< `out` and `in` are the same memory: a part is read before its place is overwritten
    std::size_t share = 0;   ///< from_root: the smallest part, in bytes, that the root may help to copy; 0: never
    bool helps = false;      ///< from_root, at the root: it helps
    bool either = false;     ///< pattern `all`, same at all ranks: tables also describe where incoming parts go

    bool moves(int from, int to) const {
        return pattern == Pattern::all || (pattern == Pattern::to_root ? to == root : from == root);
    }
};

/// Streams between this rank and its peers, one pair at a time, through the second half of the staging memory: in step
/// k each side stages piece k of its part for the other once the buffer is free, then consumes piece k of the other's
/// part.
template <class Env>
class PairStreams {
public:
    /// `sent`, `taken`: the values of these counters before the first piece.
    PairStreams(Env& env, Staging<Env>& staging, Truncation& truncation, std::uint64_t sent, std::uint64_t taken)
        : env_(env), staging_(staging), truncation_(truncation), sent_(sent), taken_(taken) {}
    FramePool& frames() { return env_.frames(); }

    /// One direction; no pieces: nothing is sent.
    struct Side {
        Buffer part{};
        Entry entry{};
        std::uint64_t pieces = 0;

        std::size_t at(std::uint64_t k) const { return k * entry.piece; }
        std::size_t bytes(std::uint64_t k) const { return std::min<std::size_t>(entry.piece, entry.bytes - at(k)); }
    };

    Task run(int peer, Side out, Side in) {
        for (std::uint64_t k = 0; k < std::max(out.pieces, in.pieces); ++k) {
            if (k < out.pieces) {
                Use& last = last_use_[k % 2];
                if (last.peer >= 0) co_await env_.until_taken(last.peer, last.value);
                env_.stage(staging_.buffer(k), out.part, out.at(k), out.bytes(k));
                env_.sent(peer, sent_ + k + 1);
                last = {peer, taken_ + k + 1};
            }
            if (k < in.pieces) {
                co_await env_.until_sent(peer, sent_ + k + 1);
                deliver(env_, in.part, in.at(k), staging_.buffer(peer, in.entry, k), in.bytes(k), in.entry.bytes, peer,
                        truncation_);
                env_.taken(peer, taken_ + k + 1);
            }
        }
    }
    /// Waits until all readers have released the buffers.
    Task drain() {
        for (Use const& last : last_use_)
            if (last.peer >= 0) co_await env_.until_taken(last.peer, last.value);
    }

private:
    Env& env_;
    Staging<Env>& staging_;
    Truncation& truncation_;
    std::uint64_t sent_, taken_;
    struct Use {
        int peer = -1;
        std::uint64_t value = 0;
    } last_use_[2];   ///< last use of each buffer: the reader whose `taken` releases it
};

template <class Env>
class Exchange {
public:
    Exchange(Env& env, Sides const& sides, Limits limits)
        : env_(env), sides_(sides), limits_(limits), staging_(env, limits.piece), refused_(env.frames()),
          streams_(env, staging_, truncation_, 0, refused) {}

    FramePool& frames() { return env_.frames(); }

    bool sends_to(int peer) const { return sides_.moves(env_.rank(), peer); }
    bool receives_from(int peer) const { return sides_.moves(peer, env_.rank()); }

    /// Stages or exposes the parts for the other ranks, and publishes.
    void post();
    void take_own(ConstBuffer const& own) {
        deliver_own(env_, sides_.in[env_.rank()], own, working_set(own.bytes()), truncation_);
    }
    /// Receives what can be received immediately from a peer. Must be called after until(peer).
    void take(int peer);
    /// Copies the pieces that a peer has not claimed of its part, if either side may copy.
    void give(int peer);
    bool unfinished() const { return staging_.outstanding() || left_; }
    /// Streams what remains, and waits until other ranks have received this rank's parts.
    Task finish();
    /// Throws if a part was too long for its buffer.
    void check() const { truncation_.check(env_); }

private:
    bool to_one() const { return sides_.pattern == Pattern::to_root; }
    /// The number of parts that a sender posts, and the index of the part for `receiver`.
    int parts() const { return to_one() ? 1 : env_.size(); }
    int part_of(int receiver) const { return to_one() ? 0 : receiver; }
    Entry* my_table() { return reinterpret_cast<Entry*>(env_.slot(env_.slot_bytes())); }
    Entry const* table_of(int rank) {
        return rank == env_.rank() ? my_table() : reinterpret_cast<Entry const*>(env_.peek(rank, env_.slot_bytes()));
    }
    /// Where `to` wants the part of `from`.
    Entry const& target(int from, int to) { return table_of(to)[env_.size() + from]; }
    /// True if either side may copy the part. One of the ranks is this one, the other must have published. Both sides
    /// get the same answer.
    bool by_either(int from, int to) {
        int const peer = from == env_.rank() ? to : from;
        if (!sides_.either || !table_ || env_.published(peer) != table_step) return false;
        return table_of(from)[to].in_arena() && target(from, to).in_arena();
    }
    CopyPieces pieces(int from, int to) {
        return CopyPieces::of_pair(moved(table_of(from)[to], target(from, to)), env_.size());
    }
    int first_piece(int sender) const { return CopyPieces::most_of_word / env_.size() * sender; }
    Entry const& mine_for(int peer) { return my_table()[part_of(peer)]; }
    Entry const& theirs(int peer) {
        return reinterpret_cast<Entry const*>(env_.peek(peer, env_.slot_bytes()))[part_of(env_.rank())];
    }

    /// The memory that all ranks touch if all parts have this size.
    std::size_t working_set(std::size_t part) const {
        auto const p = static_cast<std::size_t>(env_.size());
        return 2 * part * p * (sides_.pattern == Pattern::all ? p : 1);
    }
    void post_place();
    bool post_packed();
    Entry post(Buffer const& part);
    void take_now(int peer);
    void take_entry(int peer, Entry const& e);
    bool take_share(int peer, Entry const& e);
    Task write_shares();
    bool asked_to_stream(int peer);
    std::uint64_t pieces_to_take(int peer);

    Env& env_;
    Sides sides_;
    Limits const limits_;
    Staging<Env> staging_;
    Truncation truncation_;
    bool table_ = false, left_ = false;
    MadeAlone taken_, given_;
    bool helped_ = false;          ///< the root writes a share of what this rank receives
    PooledVector<bool> refused_;   ///< the peers whose memory could not be read; empty: none
    PairStreams<Env> streams_;
};

/// Posts small parts of equal size: no table is needed, and nothing must be awaited afterwards. Returns false if the
/// parts do not qualify.
template <class Env>
bool Exchange<Env>::post_packed() {
    if (to_one()) {
        Buffer const part = sides_.out[sides_.root];
        std::size_t const n = part.bytes();
        if (n > env_.slot_bytes()) return false;
        env_.load(env_.slot(n), part, 0, n);
        env_.publish(1 + n);
        return true;
    }
    std::size_t const n = sides_.out[env_.rank()].bytes(), size = static_cast<std::size_t>(env_.size());
    if (!sides_.equal || n > env_.slot_bytes() / size) return false;
    std::byte* slot = env_.slot(n * size);
    for (int i = 0; i < env_.size(); ++i)
        if (i != env_.rank()) env_.load(slot + static_cast<std::size_t>(i) * n, sides_.out[i], 0, n);
    env_.publish(1 + n);
    return true;
}

/// Called by a receiver of a scatter: describes to the root where its part goes.
template <class Env>
void Exchange<Env>::post_place() {
    Buffer const part = sides_.in[sides_.root];
    if (part.bytes() < sides_.share) return env_.publish();
    env_.expose_staged();
    my_table()[0] = staging_.show(part, limits_);
    env_.publish(table_step);
}

template <class Env>
void Exchange<Env>::post() {
    bool const sends =
        sides_.pattern == Pattern::all || (env_.rank() == sides_.root) == (sides_.pattern == Pattern::from_root);
    if (!sends && sides_.share > 0) post_place();
    if (!sends || post_packed()) return;
    table_ = true;
    staging_.begin_slot(sizeof(Entry) * static_cast<std::size_t>(parts()) * (sides_.either ? 2 : 1));
    Entry* table = my_table();
    if (sides_.either) {
        staging_.expose();
        for (int i = 0; i < env_.size(); ++i)
            if (i != env_.rank()) table[env_.size() + i] = staging_.show(sides_.in[i], limits_);
    }
    if (to_one()) {
        table[0] = post(sides_.out[sides_.root]);
    } else {
        for (int i = 0; i < env_.size(); ++i)
            if (i != env_.rank()) table[i] = post(sides_.out[i]);
    }
    env_.publish(table_step);
}

template <class Env>
Entry Exchange<Env>::post(Buffer const& part) {
    Entry e = staging_.post(part, limits_, !sides_.in_place);
    e.helps = e.place != Place::slot && sides_.helps;
    return e;
}

template <class Env>
void Exchange<Env>::take(int peer) {
    if (sides_.in_place && table_ && mine_for(peer).place == Place::stream) {
        left_ = true;   // this rank's part for the peer still lies where the peer's part must go
        return;
    }
    if (!by_either(peer, env_.rank())) return take_now(peer);
    Entry const& e = theirs(peer);
    Buffer const to = sides_.in[peer];
    if (e.bytes > to.bytes()) [[unlikely]]
        truncation_.note(peer, e.bytes, to.bytes());
    PeerBuffer<Env> from;   // the owner and its layout may be gone, but not while a piece is left
    auto const read = [&](std::size_t at, std::size_t n) {
        if (!from) from = buffer_of(env_, peer, e);
        from.get(to, at, n, working_set(e.bytes));
    };
    CopyPieces const all = pieces(peer, env_.rank());
    taken_.note(peer, copy_pieces(env_, env_.rank(), first_piece(peer), all, From::front, read));
    env_.taken(peer, has_all);
}

template <class Env>
void Exchange<Env>::give(int peer) {
    if (!by_either(env_.rank(), peer)) return;
    PeerBuffer<Env> to;
    auto const write = [&](std::size_t at, std::size_t n) {
        if (!to) to = buffer_of(env_, peer, target(env_.rank(), peer));
        to.put(sides_.out[peer], at, n, working_set(sides_.out[peer].bytes()));
    };
    CopyPieces const all = pieces(env_.rank(), peer);
    given_.note(peer, copy_pieces(env_, peer, first_piece(env_.rank()), all, From::back, write));
    env_.sent(peer, has_all);
}

template <class Env>
void Exchange<Env>::take_now(int peer) {
    std::uint64_t const step = env_.published(peer);
    if (step == table_step) return take_entry(peer, theirs(peer));
    std::size_t const n = step - 1;
    std::byte const* parts_there = env_.slot(peer, n * static_cast<std::size_t>(parts()));
    deliver(env_, sides_.in[peer], 0, parts_there + n * static_cast<std::size_t>(part_of(env_.rank())), n, n, peer,
            truncation_);
}

template <class Env>
void Exchange<Env>::take_entry(int peer, Entry const& e) {
    switch (e.place) {
    case Place::slot:
    case Place::staging:
        staging_.take(peer, e, sides_.in[peer], truncation_);
        if (e.place == Place::staging) env_.taken(peer, has_all);
        break;
    case Place::memory:
    case Place::arena:
    case Place::layout:
        if (take_share(peer, e)) {
            env_.taken(peer, has_all);
        } else if (fetch_part(env_, peer, e, sides_.in[peer], staging_.bounce(), working_set(e.bytes), truncation_)) {
            env_.taken(peer, has_all);
        } else {
            left_ = true;
            refused_.resize(static_cast<std::size_t>(env_.size()));
            refused_[static_cast<std::size_t>(peer)] = true;
            env_.taken(peer, refused);
        }
        break;
    case Place::stream: left_ = true; break;
    }
}

/// Reads all but the root's share, if the root has one. Returns false if it has none.
template <class Env>
bool Exchange<Env>::take_share(int peer, Entry const& e) {
    Buffer const part = sides_.in[peer];
    if (sides_.share == 0 || part.bytes() < sides_.share || !shared(e, my_table()[0], sides_.share)) return false;
    if (e.bytes > part.bytes()) [[unlikely]]
        truncation_.note(peer, e.bytes, part.bytes());
    buffer_of(env_, peer, e).get(part, 0, root_share(moved(e, my_table()[0]), env_.size()), working_set(e.bytes));
    return left_ = helped_ = true;
}

/// Writes the root's shares: first for the ranks that have published, then for the others as they arrive. Uses
/// std::partition because a stable partition allocates.
template <class Env>
Task Exchange<Env>::write_shares() {
    PooledVector<int> open(env_.frames());
    for (int i = 1; i < env_.size(); ++i) open.push_back((env_.rank() + i) % env_.size());
    std::erase_if(open, [&](int peer) { return !mine_for(peer).in_arena() || mine_for(peer).bytes < sides_.share; });
    std::partition(open.begin(), open.end(), [&](int peer) { return env_.published(peer) != 0; });
    for (int peer : open) {
        co_await env_.until(peer);
        if (env_.published(peer) != table_step) continue;
        Entry const& mine = mine_for(peer);
        Entry const& there = *reinterpret_cast<Entry const*>(env_.peek(peer, env_.slot_bytes()));
        if (!shared(mine, there, sides_.share)) continue;
        std::size_t const n = moved(mine, there), from = root_share(n, env_.size());
        buffer_of(env_, peer, there).put(sides_.out[peer], from, n - from, working_set(n));
        env_.sent(peer, has_all);
    }
}

template <class Env>
bool Exchange<Env>::asked_to_stream(int peer) {
    Entry const& e = mine_for(peer);
    return e.place == Place::stream || (e.shown() && env_.taken_by(peer) >= refused);
}

template <class Env>
std::uint64_t Exchange<Env>::pieces_to_take(int peer) {
    if (!receives_from(peer) || env_.published(peer) != table_step) return 0;
    Entry const& e = theirs(peer);
    bool const wanted = e.place == Place::stream || (!refused_.empty() && refused_[static_cast<std::size_t>(peer)]);
    return wanted ? e.pieces() : 0;
}

template <class Env>
Task Exchange<Env>::finish() {
    int const size = env_.size(), rank = env_.rank();
    if (table_ && sides_.share > 0) co_await write_shares();
    if (helped_) co_await env_.until_sent(sides_.root, has_all);
    for (int round = 0; round < size; ++round) {
        int const peer = (round - rank + size) % size;
        if (peer == rank) continue;
        if (by_either(peer, rank) && !taken_.with(peer)) co_await env_.until_sent(peer, has_all);
        std::uint64_t to_send = 0;
        if (table_ && sends_to(peer)) {
            if (mine_for(peer).shown() && !given_.with(peer)) co_await env_.until_taken(peer, has_all);
            if (asked_to_stream(peer)) to_send = mine_for(peer).pieces();
        }
        std::uint64_t const to_take = pieces_to_take(peer);
        typename PairStreams<Env>::Side out, in;
        if (to_send > 0) out = {sides_.out[peer], mine_for(peer), to_send};
        if (to_take > 0) in = {sides_.in[peer], theirs(peer), to_take};
        if (to_send + to_take > 0) co_await streams_.run(peer, out, in);
        if (sides_.in_place && to_send > 0 && to_take == 0) take_now(peer);
    }
    for (int peer = 0; table_ && peer < size; ++peer) {   // all readers have finished with this rank's memory
        if (peer == rank || !sends_to(peer)) continue;
        Entry const& e = mine_for(peer);
        if (e.place == Place::staging) co_await env_.until_taken(peer, has_all);
        if (asked_to_stream(peer)) co_await env_.until_taken(peer, refused + e.pieces());
    }
}

}   // namespace tutti::coll
