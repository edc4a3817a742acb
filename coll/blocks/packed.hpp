// SPDX-License-Identifier: BSD-3-Clause
// Small dense parts of one size, the common case of alltoall, allgather, gather and scatter: posted in the sender's
// slot as Exchange and AllgatherParts do (exchange.hpp, gathering.hpp), without what tables, layouts and streams need.
// If a peer has posted something else, because its part has another size, the receiver handles it as these do. Bytes: n
// in and n out per part.
#pragma once

#include "coll/blocks/exchange.hpp"
#include "coll/blocks/gathering.hpp"

namespace tutti::coll {

/// True if `parts` parts of `bytes` bytes fit into a slot.
template <class Env>
bool fit_slot(Env const& env, std::size_t bytes, int parts) {
    return bytes <= env.slot_bytes() && bytes * static_cast<std::size_t>(parts) <= env.slot_bytes();
}

/// True if the call can use this method. All ranks of a correct program get the same answer, but no rank relies on
/// that.
template <class Env>
bool fits_packed(Env& env, AlltoallArgs const& a) {
    return a.equal_parts && fit_slot(env, a.part_bytes, env.size()) && a.send.are_contiguous() &&
           a.receive.are_contiguous() && a.send[0].bytes() == a.part_bytes;
}
template <class Env>
bool fits_packed(Env& env, AllgatherArgs const& a) {
    return a.max_part_bytes <= env.slot_bytes() && a.parts.are_contiguous() && a.mine.type->dense(a.mine.count) &&
           a.mine.bytes() == a.max_part_bytes;
}
/// `parts`: how many must fit into one slot.
template <class Env>
bool fits_packed(Env& env, RootedArgs const& a, int parts) {
    std::size_t const n = a.mine.bytes();
    return a.equal_parts && fit_slot(env, n, parts) && a.mine.type->dense(a.mine.count) &&
           (env.rank() != a.root || (a.parts.are_contiguous() && a.parts[a.root].bytes() == n));
}

/// Dense parts, as bytes.
struct PackedParts {
    explicit PackedParts(Parts const& parts)
        : first(first_byte(parts[0])), distance(parts.stride()), bytes(parts[0].bytes()) {}
    std::byte* operator[](int i) const { return first + i * distance; }

    std::byte* first;
    std::ptrdiff_t distance;
    std::size_t bytes;
};

/// Copies a rank's part to itself.
template <class Env>
void copy_own(Env& env, std::byte* to, std::byte const* from, std::size_t n) {
    copy_bytes(to, from, n);
    env.count(n, n);
}

/// Copies this rank's parts for all others into its slot and publishes; its own entry stays empty.
template <class Env>
void post_packed(Env& env, PackedParts const& parts) {
    int const rank = env.rank(), size = env.size();
    std::size_t const n = parts.bytes, all = n * static_cast<std::size_t>(size);
    std::byte* to = env.slot(all);
    for (int i = 0; i < size; ++i, to += n)
        if (i != rank) copy_bytes(to, parts[i], n);
    env.count(all - n, all - n);
    env.publish(1 + n);
}
template <class Env>
void post_packed(Env& env, std::byte const* part, std::size_t n) {
    copy_bytes(env.slot(n), part, n);
    env.count(n, n);
    env.publish(1 + n);
}

/// Must be called after until(peer). Receives part number `index` of the `parts` parts in the peer's slot. Returns
/// false if the peer's parts do not have this size.
template <class Env>
bool receive_packed(Env& env, int peer, std::byte* to, std::size_t n, int index, int parts) {
    std::byte const* const there = env.slot_at(peer, 1 + n, n * static_cast<std::size_t>(parts));
    if (!there) [[unlikely]]
        return false;
    copy_bytes(to, there + n * static_cast<std::size_t>(index), n);
    env.count(n, n);
    return true;
}

/// Completes an operation whose own parts are posted: receives what peers with other sizes sent.
template <class Env>
Task receive_unequal(Env& env, AlltoallArgs const& a, Limits limits) {
    ExchangeSpec const spec{.pattern = Pattern::all, .root = 0, .out = a.send, .in = a.receive};
    Exchange<Env> x(env, spec, limits);
    for (int peer = 0; peer < env.size(); ++peer)
        if (peer != env.rank() && env.published(peer) != 1 + a.part_bytes) x.receive(peer);
    if (x.unfinished()) co_await x.finish();
    x.check();
}
template <class Env>
Task receive_unequal(Env& env, AllgatherArgs const& a) {
    AllgatherParts<Env> g(env, a);
    for (int peer = 0; peer < env.size(); ++peer)
        if (peer != env.rank() && env.published(peer) != 1 + a.max_part_bytes) g.receive(peer);
    if (g.unfinished()) co_await g.finish();
    g.check();
}

/// Posts this rank's parts and copies its own.
template <class Env>
void post_packed(Env& env, AlltoallArgs const& a, PackedParts const& in) {
    PackedParts const out(a.send);
    post_packed(env, out);
    if (!a.is_in_place) copy_own(env, in[env.rank()], out[env.rank()], in.bytes);
}

template <class Env>
Task packed_alltoall(Env& env, AlltoallArgs const& a) {
    int const rank = env.rank(), size = env.size();
    PackedParts const in(a.receive);
    bool equal = true;
    post_packed(env, a, in);
    for (int i = 1, peer = rank; i < size; ++i) {
        if (++peer == size) peer = 0;
        co_await env.until(peer);
        equal &= receive_packed(env, peer, in[peer], in.bytes, rank, size);
    }
    if (!equal) co_await receive_unequal(env, a, Limits::of(a));
}

template <class Env>
Task packed_allgather(Env& env, AllgatherArgs const& a) {
    int const rank = env.rank(), size = env.size();
    PackedParts const in(a.parts);
    bool equal = true;
    post_packed(env, first_byte(a.mine), in.bytes);
    if (!a.is_in_place) copy_own(env, in[rank], first_byte(a.mine), in.bytes);
    for (int i = 1, peer = rank; i < size; ++i) {
        if (++peer == size) peer = 0;
        co_await env.until(peer);
        equal &= receive_packed(env, peer, in[peer], in.bytes, 0, 1);
    }
    if (!equal) co_await receive_unequal(env, a);
}

}   // namespace tutti::coll
