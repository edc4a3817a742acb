// SPDX-License-Identifier: BSD-3-Clause
// Every rank's part to all others: the engine under allgather(v).
//
//     Gathering g(env, arguments, writing);
//     g.post(); g.take_own();                               say where my part lies and, if writing, where theirs go to
//     for each peer: co_await env.until(peer), g.take(peer);
//     if (g.unfinished()) co_await g.finish();
//
// In operations that suspend, what lies in arenas on both sides is copied by whoever comes first (either_side.hpp).
//
// Small parts travel in the slots and nobody waits for their readers; large ones in one piece, or in arenas, are read
// from their owners' memory, or written into their receivers' where both sides lie in arenas; the rest is laid out once
// in the owner's staging memory, or streamed through it, for all readers together.
//
// Why it ends: writing waits for nobody but for the others' posts; streams: part_streams.hpp.
#pragma once

#include "coll/blocks/exchange/either_side.hpp"
#include "coll/blocks/exchange/part_streams.hpp"

namespace tutti::coll {

template <class Env>
class Gathering {
public:
    /// `writing`: every rank's table has a place for everybody's part, and, at its own number, its own part. `either`:
    /// then who reads may copy as well.
    Gathering(Env& env, AllgatherArgs const& args, bool writing = false, bool either = false)
        : env_(env), args_(args), writing_(writing), either_(either),
          mine_(args.is_in_place ? args.parts[env.rank()] : args.mine), limits_(Limits::of(args)),
          staging_(env, limits_.piece), streams_(env.frames()) {}

    FramePool& frames() { return env_.frames(); }
    bool unfinished() const { return table_ || left_; }
    /// Writes my part into the buffers of all who are to get it so, a grain at a time: it is read once.
    void write(std::size_t grain);
    void check() const { truncation_.check(env_); }

    void post();
    void take_own() { take_own(0, mine_.bytes()); }
    void take(int peer);
    /// Copies what a peer has not yet taken of my part, where either side may.
    void give(int peer);
    Task finish();

private:
    Entry* my_table() { return reinterpret_cast<Entry*>(env_.slot(env_.slot_bytes())); }
    Entry const* table(int peer) { return reinterpret_cast<Entry const*>(env_.peek(peer, env_.slot_bytes())); }
    Entry& my_entry() { return my_table()[writing_ ? env_.rank() : 0]; }
    Entry const& entry(int peer) {
        Entry const* const there = peer == env_.rank() ? my_table() : table(peer);
        return there[writing_ ? peer : 0];
    }
    // For PartStreams: everybody streams its own part.
    friend class PartStreams<Env, Gathering>;
    Entry const& entry(int owner, int) { return entry(owner); }
    Buffer source(int) const { return mine_; }
    Buffer target(int part) const { return args_.parts[part]; }
    Truncation& truncation() { return truncation_; }
    /// Does `from` write its part into the buffer of `to`, of whom one is this rank? Both find the same.
    bool written(int from, int to) {
        if (!writing_) return false;
        Entry const* source = from == env_.rank() ? my_table() : table(from);
        Entry const* target = to == env_.rank() ? my_table() : table(to);
        return source[from].in_arena() && target[from].in_arena();
    }
    CopyPieces pieces(Entry const& source, Entry const& target) const {
        return CopyPieces::of_pair(moved(source, target), env_.size());
    }
    int first_piece(int sender) const { return CopyPieces::most_of_word / env_.size() * sender; }
    void take_own(std::size_t position, std::size_t end) {
        std::size_t const n = mine_.bytes();
        deliver_own(env_, args_.parts[env_.rank()], mine_, position, end, working_set(n), truncation_);
    }
    /// Everybody writes everybody's part.
    std::size_t working_set(std::size_t part) const {
        auto const p = static_cast<std::size_t>(env_.size());
        return part * p * (p + 1);
    }
    /// Does this peer read my part as a stream? Known once it has answered.
    bool reads_stream(int peer) { return my_entry().place == Place::stream || env_.taken_by(peer) >= refused; }

    Env& env_;
    AllgatherArgs const& args_;
    bool const writing_, either_;
    Buffer const mine_;
    Limits const limits_;
    Staging<Env> staging_;
    Truncation truncation_;
    bool table_ = false, left_ = false;
    MadeAlone taken_, given_;
    PooledVector<PartStream> streams_;   ///< what comes to me as a stream
};

template <class Env>
void Gathering<Env>::post() {
    std::size_t const n = mine_.bytes();
    if (!writing_ && n <= env_.slot_bytes()) {
        env_.load(env_.slot(n), mine_, 0, n);
        env_.publish(1 + n);
        return;
    }
    table_ = true;
    env_.expose_staged();
    for (int peer = 0; writing_ && peer < env_.size(); ++peer)
        if (peer != env_.rank()) my_table()[peer] = staging_.show(args_.parts[peer], Limits::none(limits_.piece));
    my_entry() = staging_.lay_out(mine_, limits_);
    env_.publish(table_step);
}

template <class Env>
void Gathering<Env>::take(int peer) {
    Buffer const to = args_.parts[peer];
    std::size_t const n = env_.published(peer) - 1;
    if (n + 1 != table_step) return deliver(env_, to, 0, env_.slot(peer, n), n, n, peer, truncation_);
    Entry const& e = entry(peer);
    if (written(peer, env_.rank())) {
        if (e.bytes > to.bytes()) [[unlikely]]
            truncation_.note(peer, e.bytes, to.bytes());
        if (!either_) return;
        PeerBuffer<Env> from;   // its owner may be gone with its layout, but not once a piece is left
        auto const read = [&](std::size_t at, std::size_t n) {
            if (!from) from = buffer_of(env_, peer, e);
            from.get(to, at, n, working_set(e.bytes));
        };
        CopyPieces const all = pieces(e, my_table()[peer]);
        taken_.note(peer, copy_pieces(env_, env_.rank(), first_piece(peer), all, From::front, read));
        env_.taken(peer, has_all);
    } else if (e.place == Place::stream) {
        streams_.push_back({peer, peer, peer + 1});
        left_ = true;
    } else if (e.place == Place::staging) {
        staging_.take(peer, e, to, truncation_);
        env_.taken(peer, has_all);
    } else if (fetch_part(env_, peer, e, to, staging_.bounce(), working_set(e.bytes), truncation_)) {
        env_.taken(peer, has_all);
    } else {
        streams_.push_back({peer, peer, peer + 1});
        left_ = true;
        env_.taken(peer, refused);
    }
}

template <class Env>
void Gathering<Env>::give(int peer) {
    if (!either_ || !written(env_.rank(), peer)) return;
    Entry const& place = table(peer)[env_.rank()];
    PeerBuffer<Env> to;
    auto const write = [&](std::size_t at, std::size_t n) {
        if (!to) to = buffer_of(env_, peer, place);
        to.put(mine_, at, n, working_set(mine_.bytes()));
    };
    CopyPieces const all = pieces(my_entry(), place);
    given_.note(peer, copy_pieces(env_, peer, first_piece(env_.rank()), all, From::back, write));
    env_.sent(peer, has_all);
}

template <class Env>
void Gathering<Env>::write(std::size_t grain) {
    struct Target {
        PeerBuffer<Env> buffer;
        std::size_t bytes;
    };
    int const size = env_.size(), rank = env_.rank();
    PooledVector<Target> targets(env_.frames());
    for (int i = 1; i < size; ++i) {
        int const peer = (rank + i) % size;
        if (!written(rank, peer)) continue;
        Entry const& place = table(peer)[rank];
        targets.push_back({buffer_of(env_, peer, place), moved(my_entry(), place)});
    }
    bool const own = !args_.is_in_place;
    std::size_t const n = mine_.bytes(), all = working_set(n);
    for (std::size_t at = 0; at < n && (own || !targets.empty()); at += grain) {
        std::size_t const end = std::min(n, at + grain);
        if (own) take_own(at, end);
        for (Target const& t : targets)
            if (at < t.bytes) t.buffer.put(mine_, at, std::min(end, t.bytes) - at, all);
    }
    for (int peer = 0; peer < size; ++peer)
        if (peer != rank && written(rank, peer)) env_.sent(peer, has_all);
}

template <class Env>
Task Gathering<Env>::finish() {
    int const rank = env_.rank();
    PooledVector<int> readers(env_.frames());
    for (int peer = 0; table_ && peer < env_.size(); ++peer) {
        if (peer == rank) continue;
        if (written(peer, rank) && !taken_.with(peer)) co_await env_.until_sent(peer, has_all);
        if (written(rank, peer)) {
            if (either_ && !given_.with(peer)) co_await env_.until_taken(peer, has_all);
            continue;
        }
        if (my_entry().place != Place::stream) co_await env_.until_taken(peer, has_all);
        if (reads_stream(peer)) readers.push_back(peer);
    }
    if (readers.empty() && streams_.empty()) co_return;
    PartStreams<Env, Gathering> s(env_, *this, staging_);
    co_await s.run({rank, rank, rank + 1}, readers, streams_);
}

/// Of an operation that suspends: do parts go by whoever comes first? All ranks find the same.
template <class Env>
bool goes_by_either_side(Env& env, AllgatherArgs const& a) {
    return env.suspends() && a.largest > env.slot_bytes() && env.size() <= CopyPieces::most_of_word;
}
template <class Env>
Task gather_by_either_side(Env& env, AllgatherArgs const& a) {
    Gathering<Env> g(env, a, true, true);
    g.post();
    co_await env.later();
    if (!a.is_in_place) g.take_own();
    for (int i = 1, peer = env.rank(); i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
        g.take(peer);
        g.give(peer);
    }
    if (g.unfinished()) co_await g.finish();
    g.check();
}

}   // namespace tutti::coll
