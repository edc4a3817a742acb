// SPDX-License-Identifier: BSD-3-Clause
// Each rank's part to all other ranks. Used by allgather(v).
//
//     AllgatherParts g(env, arguments, sender_writing);
//     g.post(); g.copy_own();                               describe this rank's part and, if senders write, targets
//     for each peer: co_await env.until(peer), g.receive(peer);
//     if (g.unfinished()) co_await g.finish();
//
// In operations that suspend, parts that are in arenas on both sides are copied by both (Environment::share): a rank
// that waits copies for a peer that computes.
//
// Small parts travel in the slots, and no rank waits for their readers. Large parts that are contiguous, or in arenas,
// are read from their owner's memory, or written into their receivers' memory if both sides are in arenas. The rest is
// staged once in the owner's staging memory, or streamed through it, for all readers together.
//
// Why it terminates: writing waits only for the posts of the other ranks; for streams see PartStreams below.
#pragma once

#include "coll/blocks/movement.hpp"

// PartStreams: parts of an allgather that are not read in place. Their owners stream them through their staging memory,
// each stream for all of its readers together.
//
// In step k, every rank first stages piece k of its own stream, once all its readers have finished step k − 2, then
// reads piece k of the streams that it consumes, and acknowledges. The rank that has progressed least waits only for
// what others have already done, so some rank can always continue. Counters: ready[1]: pieces staged; ack[1]: steps
// finished.

namespace tutti::coll {

/// Parts first … end − 1, one after the other, from the buffers of `owner`.
struct PartStream {
    int owner, first, end;
};

/// `PartMap` describes the parts: entry(owner, part): the size of the owner's part and of its pieces; source(part) and
/// target(part): this rank's own part and where a part belongs; truncation().
template <class Env, class PartMap>
class PartStreams {
public:
    PartStreams(Env& env, PartMap& part_map, Staging<Env>& staging)
        : env_(env), part_map_(part_map), staging_(staging) {}
    FramePool& frames() { return env_.frames(); }

    /// Stages `out` for its readers (this rank is not among them) and consumes the streams of others.
    Task run(PartStream out, std::span<int const> readers, std::span<PartStream const> streams) {
        std::uint64_t const to_serve = readers.empty() ? 0 : pieces(out);
        std::uint64_t steps = to_serve;
        for (PartStream const& stream : streams) steps = std::max(steps, pieces(stream));
        for (std::uint64_t k = 0; k < steps; ++k) {
            if (k < to_serve) {
                if (k >= 2) co_await await_acks(env_, readers, 1, k - 1);
                Piece const p = piece(out, k);
                env_.stage(staging_.buffer(k), part_map_.source(p.part), p.at, p.bytes);
                env_.ready(1, k + 1);
            }
            for (PartStream const& stream : streams) {
                if (k >= pieces(stream)) continue;
                co_await env_.until_ready(stream.owner, 1, k + 1);
                receive(stream, k);
            }
            if (!streams.empty()) env_.ack(1, k + 1);
        }
        co_await await_acks(env_, readers, 1, to_serve);
    }

private:
    struct Piece {
        int part;
        std::size_t at, bytes;
        Entry whole;
    };

    std::uint64_t pieces(PartStream const& stream) {
        std::uint64_t all = 0;
        for (int part = stream.first; part < stream.end; ++part) all += part_map_.entry(stream.owner, part).pieces();
        return all;
    }
    Piece piece(PartStream const& stream, std::uint64_t k) {
        int part = stream.first;
        while (k >= part_map_.entry(stream.owner, part).pieces()) k -= part_map_.entry(stream.owner, part++).pieces();
        Entry const e = part_map_.entry(stream.owner, part);
        std::size_t const at = k * e.piece;
        return {part, at, std::min<std::size_t>(e.piece, e.bytes - at), e};
    }
    void receive(PartStream const& stream, std::uint64_t k) {
        Piece const p = piece(stream, k);
        if (p.part == env_.rank()) return;
        deliver(env_, part_map_.target(p.part), p.at, staging_.buffer(stream.owner, p.whole, k), p.bytes, p.whole.bytes,
                stream.owner, part_map_.truncation());
    }

    Env& env_;
    PartMap& part_map_;
    Staging<Env>& staging_;
};

/// Parts of an allgather whose sizes are known to all ranks. A rank's own part is already in place.
template <class Env>
struct KnownParts {
    Entry entry(int, int part) const { return staging.entry(args.parts[part].bytes(), 0, PartLocation::stream); }
    Buffer source(int part) const { return args.parts[part]; }
    Buffer target(int part) const { return args.parts[part]; }
    Truncation& truncation() const { return truncated; }

    AllgatherArgs const& args;
    Staging<Env>& staging;
    Truncation& truncated;
};

template <class Env>
class AllgatherParts {
public:
    /// `sender_writing`: each rank's table describes where the part of every other rank goes and, at its own index, its
    /// own part. `either_side`: the reader may copy as well.
    AllgatherParts(Env& env, AllgatherArgs const& args, bool sender_writing = false, bool either_side = false)
        : env_(env), args_(args), sender_writing_(sender_writing), either_side_(either_side),
          mine_(args.is_in_place ? args.parts[env.rank()] : args.mine), limits_(Limits::of(args)),
          staging_(env, limits_.piece), streams_(env.frames()) {}

    FramePool& frames() { return env_.frames(); }
    bool unfinished() const { return posted_table_ || remaining_; }
    /// Writes this rank's part into the buffers of all ranks that receive it this way, `grain` bytes at a time, so that
    /// it is read once.
    void write(std::size_t grain);
    void check() const { truncation_.check(env_); }

    void post();
    void copy_own() { copy_own(0, mine_.bytes()); }
    void receive(int peer);
    /// Copies the pieces that a peer has not claimed of this rank's part, if either side may copy.
    void copy_unclaimed(int peer);
    Task finish();

private:
    Entry* my_table() { return reinterpret_cast<Entry*>(env_.slot(env_.slot_bytes())); }
    Entry const* table(int peer) { return reinterpret_cast<Entry const*>(env_.peek(peer, env_.slot_bytes())); }
    Entry& my_entry() { return my_table()[sender_writing_ ? env_.rank() : 0]; }
    Entry const& entry(int peer) {
        Entry const* const there = peer == env_.rank() ? my_table() : table(peer);
        return there[sender_writing_ ? peer : 0];
    }
    // The interface for PartStreams: every rank streams its own part.
    friend class PartStreams<Env, AllgatherParts>;
    Entry const& entry(int owner, int) { return entry(owner); }
    Buffer source(int) const { return mine_; }
    Buffer target(int part) const { return args_.parts[part]; }
    Truncation& truncation() { return truncation_; }
    /// True if `from` writes its part into the buffer of `to`; one of them is this rank. Both get the same answer.
    bool sender_writes(int from, int to) {
        if (!sender_writing_) return false;
        Entry const* source = from == env_.rank() ? my_table() : table(from);
        Entry const* target = to == env_.rank() ? my_table() : table(to);
        return source[from].in_arena() && target[from].in_arena();
    }
    /// The pieces of the part of `from` that goes to `to`; one of them is this rank.
    CopyPieces pieces(int from, int to) {
        Entry const* source = from == env_.rank() ? my_table() : table(from);
        Entry const* target = to == env_.rank() ? my_table() : table(to);
        return shared_pieces(transferred_bytes(source[from], target[from]));
    }
    auto until_shared_copy(int from, int to) {
        return env_.until_done(env_.copy_of_pair(from, to), pieces(from, to), from == env_.rank() ? to : from);
    }
    void copy_own(std::size_t position, std::size_t end) {
        std::size_t const n = mine_.bytes();
        deliver_own(env_, args_.parts[env_.rank()], mine_, position, end, working_set(n), truncation_);
    }
    /// All ranks write the parts of all ranks.
    std::size_t working_set(std::size_t part) const {
        auto const p = static_cast<std::size_t>(env_.size());
        return part * p * (p + 1);
    }
    /// True if this peer reads this rank's part as a stream. Known once the peer has answered.
    bool reads_stream(int peer) {
        return my_entry().location == PartLocation::stream || env_.consumed_by(peer) >= refused;
    }

    Env& env_;
    AllgatherArgs const& args_;
    bool const sender_writing_, either_side_;
    Buffer const mine_;
    Limits const limits_;
    Staging<Env> staging_;
    Truncation truncation_;
    bool posted_table_ = false, remaining_ = false;
    PooledVector<PartStream> streams_;   ///< the streams that this rank reads
};

template <class Env>
void AllgatherParts<Env>::post() {
    std::size_t const n = mine_.bytes();
    if (!sender_writing_ && n <= env_.slot_bytes()) {
        env_.load(env_.slot(n), mine_, 0, n);
        env_.publish(1 + n);
        return;
    }
    posted_table_ = true;
    env_.expose_staged();
    for (int peer = 0; sender_writing_ && peer < env_.size(); ++peer)
        if (peer != env_.rank()) my_table()[peer] = staging_.try_expose(args_.parts[peer], Limits::none(limits_.piece));
    my_entry() = staging_.stage_or_expose(mine_, limits_);
    env_.publish(table_step);
}

template <class Env>
void AllgatherParts<Env>::receive(int peer) {
    Buffer const to = args_.parts[peer];
    std::size_t const n = env_.published(peer) - 1;
    if (n + 1 != table_step) return deliver(env_, to, 0, env_.slot(peer, n), n, n, peer, truncation_);
    Entry const& e = entry(peer);
    if (sender_writes(peer, env_.rank())) {
        if (e.bytes > to.bytes()) [[unlikely]]
            truncation_.record(peer, e.bytes, to.bytes());
        if (!either_side_) return;
        PeerBuffer<Env> from;   // the owner and its layout may be gone, but not while a piece is left
        auto const read = [&](std::size_t at, std::size_t n) {
            if (!from) from = peer_part(env_, peer, e);
            from.get(to, at, n, working_set(e.bytes));
        };
        env_.share(env_.copy_of_pair(peer, env_.rank()), pieces(peer, env_.rank()), CopyFrom::front, read);
    } else if (e.location == PartLocation::stream) {
        streams_.push_back({peer, peer, peer + 1});
        remaining_ = true;
    } else if (e.location == PartLocation::staging) {
        staging_.receive(peer, e, to, truncation_);
        env_.consumed(peer, all_transferred);
    } else if (fetch_part(env_, peer, e, to, staging_.bounce(), working_set(e.bytes), truncation_)) {
        env_.consumed(peer, all_transferred);
    } else {
        streams_.push_back({peer, peer, peer + 1});
        remaining_ = true;
        env_.consumed(peer, refused);
    }
}

template <class Env>
void AllgatherParts<Env>::copy_unclaimed(int peer) {
    if (!either_side_ || !sender_writes(env_.rank(), peer)) return;
    Entry const& target_entry = table(peer)[env_.rank()];
    PeerBuffer<Env> to;
    auto const write = [&](std::size_t at, std::size_t n) {
        if (!to) to = peer_part(env_, peer, target_entry);
        to.put(mine_, at, n, working_set(mine_.bytes()));
    };
    env_.share(env_.copy_of_pair(env_.rank(), peer), pieces(env_.rank(), peer), CopyFrom::back, write);
}

template <class Env>
void AllgatherParts<Env>::write(std::size_t grain) {
    struct Target {
        PeerBuffer<Env> buffer;
        std::size_t bytes;
    };
    int const size = env_.size(), rank = env_.rank();
    PooledVector<Target> targets(env_.frames());
    for (int i = 1; i < size; ++i) {
        int const peer = (rank + i) % size;
        if (!sender_writes(rank, peer)) continue;
        Entry const& target_entry = table(peer)[rank];
        targets.push_back({peer_part(env_, peer, target_entry), transferred_bytes(my_entry(), target_entry)});
    }
    bool const own = !args_.is_in_place;
    std::size_t const n = mine_.bytes(), all = working_set(n);
    for (std::size_t at = 0; at < n && (own || !targets.empty()); at += grain) {
        std::size_t const end = std::min(n, at + grain);
        if (own) copy_own(at, end);
        for (Target const& t : targets)
            if (at < t.bytes) t.buffer.put(mine_, at, std::min(end, t.bytes) - at, all);
    }
    for (int peer = 0; peer < size; ++peer)
        if (peer != rank && sender_writes(rank, peer)) env_.sent(peer, all_transferred);
}

template <class Env>
Task AllgatherParts<Env>::finish() {
    int const rank = env_.rank();
    PooledVector<int> readers(env_.frames());
    for (int peer = 0; posted_table_ && peer < env_.size(); ++peer) {
        if (peer == rank) continue;
        if (sender_writes(peer, rank)) {
            if (either_side_) co_await until_shared_copy(peer, rank);
            else co_await env_.until_sent(peer, all_transferred);
        }
        if (sender_writes(rank, peer)) {
            if (either_side_) co_await until_shared_copy(rank, peer);
            continue;
        }
        if (my_entry().location != PartLocation::stream) co_await env_.until_consumed(peer, all_transferred);
        if (reads_stream(peer)) readers.push_back(peer);
    }
    if (readers.empty() && streams_.empty()) co_return;
    PartStreams<Env, AllgatherParts> s(env_, *this, staging_);
    co_await s.run({rank, rank, rank + 1}, readers, streams_);
}

/// True if the operation suspends and its parts are copied by the side that arrives first. All ranks get the same
/// answer.
template <class Env>
bool uses_either_side(Env& env, AllgatherArgs const& a) {
    return env.suspends() && a.max_part_bytes > env.slot_bytes() && env.size() <= max_sharing_ranks;
}
template <class Env>
Task allgather_by_either_side(Env& env, AllgatherArgs const& a) {
    AllgatherParts<Env> g(env, a, true, true);
    g.post();
    co_await env.defer();
    if (!a.is_in_place) g.copy_own();
    for (int i = 1, peer = env.rank(); i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
        g.receive(peer);
        g.copy_unclaimed(peer);
    }
    if (g.unfinished()) co_await g.finish();
    g.check();
}

}   // namespace tutti::coll
