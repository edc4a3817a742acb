// SPDX-License-Identifier: BSD-3-Clause
// Broadcast along a tree, pull-based and pipelined: every inner rank shows its buffer, counts up how many chunks are in
// it, and its children copy them from there; acknowledgements come back over the same tree. The root, which has nothing
// to pull, writes the last part of each child's buffer itself where both lie in arenas.
#pragma once

#include <algorithm>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/trees/tree_place.hpp"

namespace tutti::coll::chunk_broadcast {

// Staging memory in quarters: staged chunks under way at once, one to unpack a gappy layout from, a layout.
inline constexpr int depth = 2, bounce = depth, layout = bounce + 1;
inline constexpr int data_level = 0;    // counters: chunks ready, chunks read

/// One rank's part in one broadcast.
template <class Env>
struct Part {
    Part(Env& e, BcastArgs const& args, LeaderPlace place)
        : env(e), a(args), bytes(args.data.bytes()), quarter(e.staging_bytes() / 4 / cache_line * cache_line),
          chunk(std::min(least_chunk(e, args), quarter)), chunks((bytes + chunk - 1) / chunk),
          grain(std::max<std::size_t>(1, args.parameters.at(0, place.level) / chunk) * chunk),
          share(args.parameters[e.crowded() ? 2 : 1]), dense(a.data.type->dense(a.data.count)),
          children(std::move(place.children)), parent(place.parent) {
        way = env.expose(a.data, layout * quarter, quarter);
        if (parent < 0) got = bytes;
    }

    static std::size_t least_chunk(Env& env, BcastArgs const& args) {
        std::size_t least = args.parameters[0];
        for (int level = 1; level < env.hierarchy().levels(); ++level)
            least = std::min(least, args.parameters.at(0, level));
        return least;
    }
    std::size_t length(std::uint64_t c) const { return std::min(chunk, bytes - c * chunk); }
    std::uint64_t chunks_got() const { return got == bytes ? chunks : got / chunk; }
    std::size_t working_set() const { return bytes * static_cast<std::size_t>(env.size()); }
    // Does the root write the last part of this rank's, or this child's, buffer? Both sides find the same.
    bool shared_with(int peer) const {
        Exposure const& e = env.exposure(peer);
        return bytes >= share && way == AccessPath::load_store && e.way == AccessPath::load_store && e.bytes == bytes;
    }
    // Where the root's part begins, if it has so many children.
    std::size_t split(std::size_t of_root) const { return bytes / (of_root + 1) * of_root / cache_line * cache_line; }

    Env& env;
    BcastArgs const& a;
    std::size_t bytes, quarter;
    std::size_t chunk;            // what is counted, the same at all ranks: the smallest of all levels
    std::uint64_t chunks;
    std::size_t grain;            // what this rank takes at a time where it can: its level's, in whole chunks
    std::size_t share;
    bool dense;
    AccessPath way;
    PooledVector<int> children;
    int parent;
    std::size_t got = 0;          // bytes that have arrived, from the start on
    std::size_t end = 0;          // where pulling ends
    PeerBuffer<Env> source;       // the parent's buffer, when this rank can load there
    bool met = false;             // the parent's exposure has been looked at
    bool refused = false;         // single copy has failed: the parent serves the rest on demand
};

/// Lays chunk `c` out in this rank's staging memory for its children.
template <class Env>
void stage(Part<Env>& p, std::uint64_t c) {
    p.env.stage(p.env.staging() + c % depth * p.quarter, p.a.data, c * p.chunk, p.length(c));
}

/// Copies chunk `c` from the parent's buffer by the system; false when it refuses.
template <class Env>
bool pull(Part<Env>& p, std::uint64_t c) {
    Exposure const& e = p.env.exposure(p.parent);
    if (e.layout != Exposure::one_piece) return false;
    std::byte* to = p.dense ? first_byte(p.a.data) + c * p.chunk : p.env.staging() + bounce * p.quarter;
    if (!p.env.fetch(p.parent, e.address + c * p.chunk, to, p.length(c))) return false;
    if (!p.dense) p.env.store(p.a.data, c * p.chunk, to, p.length(c));
    return true;
}

/// `children_of_root()` is asked only where the root writes a part.
template <class Env, class Count>
void meet_parent(Part<Env>& p, Count& children_of_root) {
    p.met = true;
    p.end = p.bytes;
    p.source = p.env.buffer_of(p.parent);
    if (p.parent == p.a.root && p.shared_with(p.parent)) p.end = p.split(children_of_root());
}

/// What this rank can load: all that is ready, or only so much at a time when others wait for it.
template <class Env>
void load(Part<Env>& p, std::uint64_t ready) {
    std::size_t to = std::min<std::size_t>(ready * p.chunk, p.end);
    if (!p.children.empty()) to = std::min(to, p.got + p.grain);
    p.source.get(p.a.data, p.got, to - p.got, p.working_set());
    p.got = to;
}

/// Receives at least one chunk more. Where it loads for itself it waits for as many as its level takes at a time: the
/// parent goes on without it. Where the parent lays chunks out for it, it takes each at once.
template <class Env, class Count>
Task receive(Env& env, Part<Env>& p, Count& children_of_root) {
    std::uint64_t const c = p.got / p.chunk;
    co_await env.until_ready(p.parent, data_level, c + 1);
    if (!p.met) meet_parent(p, children_of_root);
    if (p.source) {
        std::size_t const wanted = std::min(p.got + p.grain, p.end);
        co_await env.until_ready(p.parent, data_level, (wanted + p.chunk - 1) / p.chunk);
        load(p, env.ready_of(p.parent, data_level));
        if (p.got < p.end || p.end == p.bytes) co_return;
        co_await env.until_sent(p.parent, last_step);
        p.got = p.bytes;
        co_return;
    }
    bool const staged = env.exposure(p.parent).way == AccessPath::staged;
    if (staged || p.refused || !pull(p, c)) {
        if (!staged) {   // ask for this chunk and wait until it lies in the parent's staging memory
            p.refused = true;
            env.ack(data_level, c + 1);
            co_await env.until_sent(p.parent, c + 1);
        }
        env.store(p.a.data, c * p.chunk, env.staging(p.parent) + c % depth * p.quarter, p.length(c));
        if (staged) env.ack(data_level, c + 1);
    }
    p.got += p.length(c);
}

/// Says that chunks [first, end) are ready for the children.
template <class Env>
Task pass_on(Env& env, Part<Env>& p, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t c = first; p.way == AccessPath::staged && c < end; ++c) {
        for (int child : p.children)
            if (c >= depth) co_await env.until_ack(child, data_level, c - depth + 1);
        stage(p, c);
        env.ready(data_level, c + 1);
    }
    if (p.way != AccessPath::staged && first < end) env.ready(data_level, end);
}

/// The root's share of the copies: first for the children that are there, then for the others as they come.
template <class Env>
Task push(Env& env, Part<Env>& p) {
    std::size_t const from = p.split(p.children.size());
    PooledVector<int> open = p.children;
    std::stable_partition(open.begin(), open.end(), [&](int child) { return env.published(child) != 0; });
    for (int child : open) {
        co_await env.until(child);
        if (!p.shared_with(child)) continue;
        env.buffer_of(child).put(p.a.data, from, p.bytes - from, p.working_set());
        env.sent(child, last_step);
    }
}

/// Waits until a child has read everything, staging what it asks for meanwhile.
template <class Env>
Task finish(Env& env, Part<Env>& p, int child) {
    std::uint64_t seen = 0;
    if (p.way == AccessPath::staged) co_await env.until_ack(child, data_level, last_step);
    while (env.acked(child, data_level) != last_step) {
        co_await env.until_ack(child, data_level, seen + 1);
        seen = env.acked(child, data_level);
        if (seen == last_step) break;
        stage(p, seen - 1);
        env.sent(child, seen);
    }
}

/// The whole of it.
template <class Env, class Count>
Task run(Env& env, BcastArgs const& a, LeaderPlace place, Count children_of_root) {
    Part<Env> p(env, a, std::move(place));
    if (p.parent < 0) {
        co_await pass_on(env, p, 0, p.chunks);
        if (p.way == AccessPath::load_store && p.bytes >= p.share) co_await push(env, p);
    } else {
        env.publish();
        while (p.got < p.bytes) {
            std::uint64_t const had = p.chunks_got();
            co_await receive(env, p, children_of_root);
            if (!p.children.empty()) co_await pass_on(env, p, had, p.chunks_got());
        }
        env.ack(data_level, last_step);
    }
    for (int child : p.children) co_await finish(env, p, child);
}

inline constexpr Parameter share_parameter = {
    "share", 8192, "bytes from which the root writes a part of its children's buffers, where all lie in arenas"};
inline constexpr Parameter crowded_share_parameter = {
    "crowded_share", 1048576, "the same with more ranks than cores, when the root's core has others to run"};

}  // namespace tutti::coll::chunk_broadcast
