// SPDX-License-Identifier: BSD-3-Clause
// Blocks of any size and layout along the edges of a virtual topology, in shared memory: each rank publishes where its
// blocks are and reads its neighbours' blocks. Only neighbours communicate or wait for each other.
//
// A rank publishes one of these: 1 + n, if its blocks have n bytes each and are in its slot, in the order of its edges;
// or that a table of entries in this order is in its slot or, if it has many edges, at the end of its staging memory.
// An allgather has one block and one entry for all edges. Blocks in the slot need no answer. A rank that reads a block
// elsewhere answers once for all edges from that peer: all_transferred, or refused if it could not read some of the
// exposed blocks, which are then sent in pieces.
//
// Termination: posting waits for no rank, receiving waits for the peer's post, and the answers for the peer's
// receiving. Pieces are sent in steps: in step k a rank stages piece k of all its outgoing streams, then receives piece
// k of all incoming ones; a buffer is overwritten when all readers have received piece k − 2. The rank that is furthest
// behind in this order waits only for actions that precede its own, which others have done. Bytes: 2n per small block,
// n per large one that can be read, 2n in pieces.
#pragma once

#include "coll/blocks/movement.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

/// The blocks that a rank sends along its edges, and the destinations of those that it receives.
struct Blocks {
    Neighborhood const& edges;
    Parts out, in;
    bool single_block;   ///< the same block for every edge
    bool equal_blocks;   ///< all blocks from this rank have the same size

    Buffer block(int edge) const { return out[single_block ? 0 : edge]; }
};

/// Bytes that all ranks access if all blocks are like this one.
template <class Env>
std::size_t working_set(Env const& env, Blocks const& b, std::size_t bytes) {
    auto const degree = static_cast<std::size_t>(std::max(1, b.edges.in_degree()));
    return bytes * (b.single_block ? 1 + degree : 2 * degree) * static_cast<std::size_t>(env.size());
}

/// Copies the blocks of a rank for itself.
template <class Env>
void copy_own(Env& env, Blocks const& b, Truncation& truncation) {
    for (Neighborhood::Edge const& e : b.edges.self_edges()) {
        Buffer const from = b.block(e.peer_index);
        deliver_own(env, b.in[e.own_index], from, working_set(env, b, from.bytes()), truncation);
    }
}

template <class Env>
class NeighborExchange {
public:
    NeighborExchange(Env& env, Blocks const& blocks, Limits limits)
        : env_(env), blocks_(blocks), limits_(limits), half_(env.staging_bytes() / 2),
          count_(entries(blocks.edges.out_degree())),
          staging_(env, std::min(limits.piece, half_ / 2 / std::max<std::size_t>(1, count_))),
          unreadable_(env.frames()), pending_(env.frames()) {}

    FramePool& frames() { return env_.frames(); }

    /// Stages or exposes this rank's blocks, and publishes.
    void post();
    /// Must be called after until(peer): receives what can be received immediately from the peer at this index.
    void receive(std::size_t peer_index);
    bool unfinished() const { return unfinished_ || staging_.outstanding(); }
    /// Sends and receives the pieces; returns when the peers have all of this rank's blocks.
    Task finish();

    Truncation truncation;

private:
    static constexpr std::uint64_t far_table_step = table_step - 1;
    /// Up to this size, slots are moved towards their readers' caches; for larger ones this takes longer than the
    /// readers gain (measured: 30 % at 8 KiB).
    static constexpr std::size_t max_leave_bytes = 8 * cache_line;

    using Peer = Neighborhood::Peer;
    using Edge = Neighborhood::Edge;

    /// A peer that receives, or sends, blocks in pieces, and the largest number of pieces of one of these blocks.
    struct Stream {
        Stream(Peer const& with, FramePool& frames) : peer(&with), in(frames) {}
        Peer const* peer;
        std::uint64_t pieces = 0;
        PooledVector<Edge> in;
    };

    /// Number of different blocks of a rank with this out-degree.
    std::size_t entries(int out_degree) const {
        return blocks_.single_block ? 1 : static_cast<std::size_t>(out_degree);
    }
    std::size_t entry_of(int out) const { return blocks_.single_block ? 0 : static_cast<std::size_t>(out); }

    bool is_far(std::size_t count) const { return count * sizeof(Entry) > env_.slot_bytes(); }
    /// The table follows the staged blocks and the buffers of streams, two for each block.
    std::size_t far_table_at(std::size_t count) const { return half_ + std::max(half_, 2 * count * cache_line); }
    std::byte* buffer(std::byte* staging, std::size_t block, std::size_t piece, std::uint64_t k) const {
        return staging + half_ + (2 * block + k % 2) * piece;
    }
    Entry* my_table() {
        if (is_far(count_)) return reinterpret_cast<Entry*>(env_.staging() + far_table_at(count_));
        return reinterpret_cast<Entry*>(env_.slot(env_.slot_bytes()));
    }
    Entry const& entry_for(int out) { return my_table()[entry_of(out)]; }
    Entry const& entry_from(Peer const& peer, Edge const& e) {
        std::byte const* const table = env_.published(peer.rank) == far_table_step
                                           ? env_.staging_of(peer.rank) + far_table_at(entries(peer.out_degree))
                                           : env_.peek(peer.rank, env_.slot_bytes());
        return reinterpret_cast<Entry const*>(table)[entry_of(e.peer_index)];
    }

    bool post_packed();
    void receive_packed(Peer const& peer, std::size_t n);
    bool receive_entry(Peer const& peer, Buffer const& to, Entry const& e);
    /// True if a rank that gets this block must answer.
    static bool needs_answer(Entry const& e) { return e.is_exposed() || e.location == PartLocation::staging; }
    bool expects_answer(Peer const& peer);
    PooledVector<Stream> streams_out(PooledVector<std::size_t>& blocks);
    PooledVector<Stream> streams_in();
    void stage_pieces(std::span<Stream const> streams, std::span<std::size_t const> blocks, std::uint64_t k);
    void receive_pieces(Stream const& stream, std::uint64_t k);

    Env& env_;
    Blocks const blocks_;
    Limits const limits_;
    std::size_t const half_, count_;
    Staging<Env> staging_;
    bool posted_table_ = false, unfinished_ = false;
    PooledVector<bool> unreadable_;   ///< by index of the peer: its memory could not be read; empty: none
    PooledVector<bool> pending_;      ///< by index of the peer: it sends more; empty: none
};

/// Posts small blocks of one size, which need no table and no answer.
template <class Env>
bool NeighborExchange<Env>::post_packed() {
    std::size_t const n = blocks_.out[0].bytes();
    if (!(blocks_.single_block || blocks_.equal_blocks) || n > env_.slot_bytes() / count_) return false;
    std::byte* const slot = env_.slot(n * count_);
    if (blocks_.single_block) {
        env_.load(slot, blocks_.out[0], 0, n);
    } else {
        for (Peer const& peer : blocks_.edges.peers())
            for (int out : peer.out) env_.load(slot + entry_of(out) * n, blocks_.out[out], 0, n);
    }
    env_.publish(1 + n);
    if (n * count_ <= max_leave_bytes) env_.demote_slot(n * count_);
    return true;
}

template <class Env>
void NeighborExchange<Env>::post() {
    if (std::ranges::all_of(blocks_.edges.peers(), [](Peer const& peer) { return peer.out.empty(); })) return;
    if (post_packed()) return;
    posted_table_ = true;
    bool const far = is_far(count_);
    env_.reserve_staging(far_table_at(count_) + (far ? count_ * sizeof(Entry) : 0));
    if (far) staging_.expose();
    staging_.reserve_table(far ? 0 : count_ * sizeof(Entry));
    Entry* const table = my_table();
    if (blocks_.single_block) {
        table[0] = staging_.post(blocks_.out[0], limits_);
    } else {
        for (Peer const& peer : blocks_.edges.peers())
            for (int out : peer.out) table[out] = staging_.post(blocks_.out[out], limits_);
    }
    env_.publish(far ? far_table_step : table_step);
}

template <class Env>
void NeighborExchange<Env>::receive_packed(Peer const& peer, std::size_t n) {
    std::byte const* const blocks = env_.slot(peer.rank, n * entries(peer.out_degree));
    for (Edge const& e : peer.in)
        deliver(env_, blocks_.in[e.own_index], 0, blocks + entry_of(e.peer_index) * n, n, n, peer.rank, truncation);
}

template <class Env>
void NeighborExchange<Env>::receive(std::size_t peer_index) {
    Peer const& peer = blocks_.edges.peers()[peer_index];
    std::uint64_t const step = env_.published(peer.rank);
    if (step < far_table_step) return receive_packed(peer, step - 1);
    bool all = true, streams_follow = false, answer = step == far_table_step;
    for (Edge const& e : peer.in) {
        Entry const& there = entry_from(peer, e);
        answer = answer || needs_answer(there);
        if (there.location == PartLocation::stream) streams_follow = true;
        else all = receive_entry(peer, blocks_.in[e.own_index], there) && all;
    }
    if (!all) {
        unreadable_.resize(blocks_.edges.peers().size());
        unreadable_[peer_index] = true;
    }
    if (!all || streams_follow) {
        unfinished_ = true;
        pending_.resize(blocks_.edges.peers().size());
        pending_[peer_index] = true;
    }
    if (answer) env_.consumed(peer.rank, all ? all_transferred : refused);
}

/// Returns false if the peer's memory cannot be read.
template <class Env>
bool NeighborExchange<Env>::receive_entry(Peer const& peer, Buffer const& to, Entry const& e) {
    if (e.is_exposed())
        return fetch_part(env_, peer.rank, e, to, staging_.bounce(), working_set(env_, blocks_, e.bytes), truncation);
    staging_.receive(peer.rank, e, to, truncation);
    return true;
}

/// True if the peer answers for the blocks that it receives from this rank.
template <class Env>
bool NeighborExchange<Env>::expects_answer(Peer const& peer) {
    if (!posted_table_ || peer.out.empty()) return false;
    return is_far(count_) || std::ranges::any_of(peer.out, [this](int out) { return needs_answer(entry_for(out)); });
}

/// Must be called after all answers have arrived. Returns the peers that get blocks in pieces; `blocks` becomes the
/// list of these blocks.
template <class Env>
auto NeighborExchange<Env>::streams_out(PooledVector<std::size_t>& blocks) -> PooledVector<Stream> {
    PooledVector<Stream> all(env_.frames());
    if (!posted_table_) return all;
    for (Peer const& peer : blocks_.edges.peers()) {
        Stream stream(peer, env_.frames());
        bool const refused_by_peer = expects_answer(peer) && env_.consumed_by(peer.rank) >= refused;
        for (int out : peer.out) {
            Entry const& e = entry_for(out);
            if (e.location != PartLocation::stream && !(refused_by_peer && e.is_exposed())) continue;
            stream.pieces = std::max(stream.pieces, e.pieces());
            if (!blocks_.single_block || blocks.empty()) blocks.push_back(entry_of(out));
        }
        if (stream.pieces > 0) all.push_back(std::move(stream));
    }
    return all;
}

template <class Env>
auto NeighborExchange<Env>::streams_in() -> PooledVector<Stream> {
    PooledVector<Stream> all(env_.frames());
    for (std::size_t i = 0; i < blocks_.edges.peers().size(); ++i) {
        Peer const& peer = blocks_.edges.peers()[i];
        Stream stream(peer, env_.frames());
        // A peer that was answered and sends no more may be in its next operation, so its table must not be read again.
        if (pending_.empty() || !pending_[i]) continue;
        for (Edge const& e : peer.in) {
            Entry const& there = entry_from(peer, e);
            if (there.location != PartLocation::stream &&
                !(there.is_exposed() && !unreadable_.empty() && unreadable_[i]))
                continue;
            stream.pieces = std::max(stream.pieces, there.pieces());
            stream.in.push_back(e);
        }
        if (stream.pieces > 0) all.push_back(std::move(stream));
    }
    return all;
}

template <class Env>
void NeighborExchange<Env>::stage_pieces(std::span<Stream const> streams, std::span<std::size_t const> blocks,
                                         std::uint64_t k) {
    for (std::size_t block : blocks) {
        Entry const& e = my_table()[block];
        if (k >= e.pieces()) continue;
        std::size_t const at = k * e.piece;
        env_.stage(buffer(env_.staging(), block, e.piece, k), blocks_.out[static_cast<int>(block)], at,
                   std::min<std::size_t>(e.piece, e.bytes - at));
    }
    for (Stream const& stream : streams)
        if (k < stream.pieces) env_.sent(stream.peer->rank, k + 1);
}

template <class Env>
void NeighborExchange<Env>::receive_pieces(Stream const& stream, std::uint64_t k) {
    int const from = stream.peer->rank;
    std::byte* const staging = env_.staging(from);
    for (Edge const& edge : stream.in) {
        Entry const& e = entry_from(*stream.peer, edge);
        if (k >= e.pieces()) continue;
        std::size_t const at = k * e.piece;
        deliver(env_, blocks_.in[edge.own_index], at, buffer(staging, entry_of(edge.peer_index), e.piece, k),
                std::min<std::size_t>(e.piece, e.bytes - at), e.bytes, from, truncation);
    }
    env_.consumed(from, refused + k + 1);
}

template <class Env>
Task NeighborExchange<Env>::finish() {
    for (Peer const& peer : blocks_.edges.peers())
        if (expects_answer(peer)) co_await env_.until_consumed(peer.rank, all_transferred);
    PooledVector<std::size_t> blocks(env_.frames());
    PooledVector<Stream> const out = streams_out(blocks), in = streams_in();
    std::uint64_t steps = 0;
    for (auto const* streams : {&out, &in})
        for (Stream const& stream : *streams) steps = std::max(steps, stream.pieces);
    for (std::uint64_t k = 0; k < steps; ++k) {
        for (Stream const& stream : out)
            if (k >= 2) co_await env_.until_consumed(stream.peer->rank, refused + std::min(k - 1, stream.pieces));
        stage_pieces(out, blocks, k);
        for (Stream const& stream : in) {
            if (k >= stream.pieces) continue;
            co_await env_.until_sent(stream.peer->rank, k + 1);
            receive_pieces(stream, k);
        }
    }
    for (Stream const& stream : out) co_await env_.until_consumed(stream.peer->rank, refused + stream.pieces);
}

template <class Env>
Task neighbor_exchange(Env& env, Blocks blocks, Limits limits) {
    NeighborExchange<Env> x(env, blocks, limits);
    x.post();
    copy_own(env, blocks, x.truncation);
    std::span<Neighborhood::Peer const> const peers = blocks.edges.peers();
    for (std::size_t i = 0; i < peers.size(); ++i) {
        if (peers[i].in.empty()) continue;
        co_await env.until(peers[i].rank);
        x.receive(i);
    }
    if (x.unfinished()) co_await x.finish();
    x.truncation.check(env);
}

}   // namespace tutti::coll
