// SPDX-License-Identifier: BSD-3-Clause
// Tutti's gather(v) and scatter(v) in shared memory. A leaf is a rank other than the root.
//
// gather/receiver_reading: every leaf publishes where its part is, and the root obtains the parts one after the other.
// A small part is in the leaf's slot, and the leaf returns immediately; the root reads a large contiguous part from the
// leaf's memory. One step for the leaves, p − 1 for the root. Bytes: 2n per small part, n per large one, all copied by
// the root.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B, receiver-reading.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/packed.hpp"
#include "coll/blocks/receiver_reading.hpp"

namespace tutti::coll::algorithms::gather {

template <class Env>
Task receiver_reading(Env& env, RootedArgs const& a) {
    return gather_by_reading(env, a, Limits::of(a));
}

extern constinit const Algorithm<RootedArgs> receiver_reading_algorithm = {
    "receiver_reading",
    "small parts are in the leaves' slots, large ones are read by the root",
    Family::tutti,
    "after KNEM-Coll, section V.B",
    requires_nothing,
    movement_parameters,
    TUTTI_SHM_ONLY(receiver_reading),
    {"(slot < copyable*s ? 2*p : 4*p - 2)*s"}};

// gather/sender_writing, in two steps. A small part (n bytes) is in the leaf's slot, 2n bytes copied; the leaf returns
// immediately. For large parts the root exposes where each belongs, and all leaves write their parts concurrently, with
// any layout if the root's memory is an arena, n bytes copied. The root's core is thus no bottleneck; in place, it
// reads 1/p of each part itself if both are in arenas. Parts for which neither is possible are streamed.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B, sender-writing; the root's share is
// ours.

namespace {

template <class Env>
Entry const* table_of(Env& env, int peer) {
    return reinterpret_cast<Entry const*>(env.peek(peer, env.slot_bytes()));
}
template <class Env>
Entry* my_table(Env& env) {
    return reinterpret_cast<Entry*>(env.slot(env.slot_bytes()));
}

template <class Env>
std::size_t working_set(Env const& env, std::size_t part) {
    return 2 * part * static_cast<std::size_t>(env.size());
}

template <class Env>
Task leaf_stream(Env& env, RootedArgs const& a, Entry const& mine) {
    Staging<Env> staging(env, mine.piece);
    for (std::uint64_t k = 0; k < mine.pieces(); ++k) {
        if (k >= 2) co_await env.until_consumed(a.root, k - 1);
        std::size_t const at = k * mine.piece;
        env.stage(staging.buffer(k), a.mine, at, std::min<std::size_t>(mine.piece, mine.bytes - at));
        env.sent(a.root, refused + k + 1);
    }
    co_await env.until_consumed(a.root, mine.pieces());
}

/// Writes `bytes` bytes of this leaf's part to the destination that the root exposed. Returns false if it cannot.
template <class Env>
bool write(Env& env, RootedArgs const& a, Entry const& there, std::size_t bytes, std::size_t working_set) {
    if (PeerBuffer<Env> const buffer = peer_part(env, a.root, there)) {
        buffer.put(a.mine, 0, bytes, working_set);
        return true;
    }
    if (!there.is_exposed() || there.location == PartLocation::layout || bytes < a.parameters[2]) return false;
    return a.mine.type->dense(a.mine.count) && env.put(a.root, there.at, first_byte(a.mine), bytes);
}

template <class Env>
Task leaf(Env& env, RootedArgs const& a) {
    std::size_t const n = a.mine.bytes();
    if (n <= env.slot_bytes()) {
        env.load(env.slot(n), a.mine, 0, n);
        env.publish(1 + n);
        co_return;
    }
    env.expose_staged();
    Entry& mine = *my_table(env);
    mine = Staging<Env>(env, a.parameters[1]).try_expose(a.mine, Limits::of(a));
    env.publish(table_step);
    co_await env.until(a.root);
    Entry const& there = table_of(env, a.root)[env.rank()];
    std::size_t const bytes = transferred_bytes(mine, there);
    bool const both = root_copies_share(there, mine, a.parameters[3]);
    if (write(env, a, there, both ? root_share_start(bytes, env.size()) : bytes, working_set(env, bytes))) {
        env.sent(a.root, all_transferred);
        if (both) co_await env.until_consumed(a.root, all_transferred);
    } else {
        co_await leaf_stream(env, a, mine);
    }
}

/// Reads the root's share of a leaf's part, if it has one.
template <class Env>
void read_share(Env& env, RootedArgs const& a, int peer) {
    Entry const &e = *table_of(env, peer), &mine = my_table(env)[peer];
    if (!root_copies_share(mine, e, a.parameters[3])) return;
    std::size_t const bytes = transferred_bytes(e, mine), from = root_share_start(bytes, env.size());
    peer_part(env, peer, e).get(a.parts[peer], from, bytes - from, working_set(env, bytes));
    env.consumed(peer, all_transferred);
}

template <class Env>
Task receive_large(Env& env, RootedArgs const& a, int peer, Truncation& truncation) {
    Entry const& e = *table_of(env, peer);
    Staging<Env> staging(env, e.piece);
    co_await env.until_sent(peer, all_transferred);
    if (env.sent_by(peer) == all_transferred) {
        if (e.bytes > a.parts[peer].bytes()) truncation.record(peer, e.bytes, a.parts[peer].bytes());
        co_return;
    }
    for (std::uint64_t k = 0; k < e.pieces(); ++k) {
        co_await env.until_sent(peer, refused + k + 1);
        std::size_t const at = k * e.piece;
        deliver(env, a.parts[peer], at, staging.buffer(peer, e, k), std::min<std::size_t>(e.piece, e.bytes - at),
                e.bytes, peer, truncation);
        env.consumed(peer, k + 1);
    }
}

/// Exposes to the leaves where their parts belong.
template <class Env>
void expose_targets(Env& env, RootedArgs const& a) {
    env.expose_staged();
    Staging<Env> staging(env, a.parameters[1]);
    Limits const limits = Limits::none(a.parameters[1]);   // leaves that cannot write stream their parts
    for (int i = 0; i < env.size(); ++i) {
        if (i == a.root) continue;
        Entry& e = my_table(env)[i];
        e = staging.try_expose(a.parts[i], limits);
        e.root_copies = a.in_place_at_root;
    }
    env.publish(table_step);
}

/// Whether the root expects a part that does not fit into a slot.
template <class Env>
bool expects_large_parts(Env& env, RootedArgs const& a) {
    if (a.equal_parts) return a.max_part_bytes > env.slot_bytes();
    for (int i = 0; i < env.size(); ++i)
        if (i != a.root && a.parts[i].bytes() > env.slot_bytes()) return true;
    return false;
}

template <class Env>
Task root(Env& env, RootedArgs const& a) {
    Truncation truncation;
    bool exposed = expects_large_parts(env, a);   // before it copies its own part, so that the leaves need not wait
    if (exposed) expose_targets(env, a);
    if (!a.in_place_at_root) deliver_own(env, a.parts[a.root], a.mine, working_set(env, a.mine.bytes()), truncation);
    for (int i = 1; i < env.size(); ++i) {
        int const peer = (a.root + i) % env.size();
        co_await env.until(peer);
        std::size_t const n = env.published(peer) - 1;
        if (n + 1 != table_step) {
            deliver(env, a.parts[peer], 0, env.slot(peer, n), n, n, peer, truncation);
            continue;
        }
        if (!exposed) expose_targets(env, a);
        exposed = true;
        read_share(env, a, peer);
    }
    for (int i = 1; exposed && i < env.size(); ++i) {
        int const peer = (a.root + i) % env.size();
        if (env.published(peer) == table_step) co_await receive_large(env, a, peer, truncation);
    }
    truncation.check(env);
}

template <class Env>
Task packed_root(Env& env, RootedArgs const& a) {
    PackedParts const in(a.parts);
    bool equal = true;
    if (!a.in_place_at_root) copy_own(env, in[a.root], first_byte(a.mine), in.bytes);
    for (int i = 1, peer = a.root; i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
        equal &= receive_packed(env, peer, in[peer], in.bytes, 0, 1);
    }
    if (!equal) co_await root(env, a);
}

template <class Env>
Task sender_writing(Env& env, RootedArgs const& a) {
    if (env.rank() != a.root) return leaf(env, a);
    return fits_packed(env, a, 1) ? packed_root(env, a) : root(env, a);
}

}   // namespace

extern constinit const Algorithm<RootedArgs> sender_writing_algorithm = {
    "sender_writing",
    "small parts are in the leaves' slots, large ones are written into the root's memory",
    Family::tutti,
    "after KNEM-Coll, section V.B",
    requires_nothing,
    shared_movement_parameters,
    TUTTI_SHM_ONLY(sender_writing),
    {"(slot < copyable*s ? 2*p : 4*p - 2)*s"}};

}   // namespace tutti::coll::algorithms::gather

// scatter/receiver_reading: the root publishes where each leaf's part is, and every leaf obtains its own. Small parts
// are together in the root's slot, and the root returns immediately. Large contiguous parts are read by the leaves from
// the root's memory, concurrently; if both sides are in arenas, a root in place writes 1/p of each part itself. Two
// steps. Bytes: 2n per small part, n per large one.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B, receiver-reading.

namespace tutti::coll::algorithms::scatter {
namespace {

template <class Env>
Task scatter_parts(Env& env, RootedArgs const& a) {
    return scatter_by_reading(env, a, Limits::of(a), true, a.parameters[3]);
}

template <class Env>
Task packed(Env& env, RootedArgs const& a) {
    std::size_t const n = a.mine.bytes();
    if (env.rank() == a.root) {
        PackedParts const out(a.parts);
        post_packed(env, out);
        if (!a.in_place_at_root) copy_own(env, first_byte(a.mine), out[a.root], n);
        co_return;
    }
    co_await env.until(a.root);
    if (!receive_packed(env, a.root, first_byte(a.mine), n, env.rank(), env.size())) co_await scatter_parts(env, a);
}

}   // namespace

template <class Env>
Task receiver_reading(Env& env, RootedArgs const& a) {
    return fits_packed(env, a, env.size()) ? packed(env, a) : scatter_parts(env, a);
}

extern constinit const Algorithm<RootedArgs> receiver_reading_algorithm = {
    "receiver_reading",
    "small parts are in the root's slot, large ones are read by the leaves",
    Family::tutti,
    "after KNEM-Coll, section V.B",
    requires_nothing,
    shared_movement_parameters,
    TUTTI_SHM_ONLY(receiver_reading),
    {"2*(p + (copyable*s < direct ? p - 1 : min(p - 1, floor(max(0, slot - 24*p)/s))))*s"}};

}   // namespace tutti::coll::algorithms::scatter
