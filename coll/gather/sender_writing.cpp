// SPDX-License-Identifier: BSD-3-Clause
// Gather(v): a small part travels in the leaf's slot, and the leaf returns at once. For large ones the root shows where
// each part belongs and all leaves write theirs into the root's memory at the same time, so that the root's core is not
// the bottleneck; parts with gaps, and parts that the system does not let through, come as streams.
// Two steps. Bytes: 2n per small part, n per large one, copied by the leaf.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B, sender-writing.
#include "coll/algorithm.hpp"
#include "coll/movement.hpp"

namespace tutti::coll::algorithms::gather {
namespace {

template <class Env>
Entry const* table_of(Env& env, int peer) { return reinterpret_cast<Entry const*>(env.slot(peer, env.slot_bytes())); }
template <class Env>
Entry* my_table(Env& env) { return reinterpret_cast<Entry*>(env.slot(env.slot_bytes())); }

/// Where a large part comes from or goes to: memory if it is in one piece there and the system may let us at it.
template <class Env>
Entry describe(Env& env, Buffer const& part, Staging<Env> const& staging, std::size_t direct) {
    void const* address = first_byte(part);
    std::size_t const n = part.bytes();
    bool const reachable = part.type->dense(part.count) && n >= direct && env.way(address, n) != Way::staged;
    return {n, reinterpret_cast<std::uint64_t>(address), reachable ? Place::memory : Place::stream,
            static_cast<std::uint32_t>(staging.piece())};
}

template <class Env>
Task leaf_stream(Env& env, RootedArgs const& a, Entry const& mine) {
    Staging<Env> staging(env, mine.piece);
    for (std::uint64_t k = 0; k < mine.pieces(); ++k) {
        if (k >= 2) co_await env.until_taken(a.root, k - 1);
        std::size_t const at = k * mine.piece;
        Env::load(staging.buffer(k), a.mine, at, std::min<std::size_t>(mine.piece, mine.bytes - at));
        env.sent(a.root, refused + k + 1);
    }
    co_await env.until_taken(a.root, mine.pieces());
}

template <class Env>
Task leaf(Env& env, RootedArgs const& a) {
    std::size_t const n = a.mine.bytes();
    if (n <= env.slot_bytes()) {
        Env::load(env.slot(n), a.mine, 0, n);
        env.publish(1 + n);
        co_return;
    }
    env.expose_staged();
    Entry& mine = *my_table(env);
    mine = describe(env, a.mine, Staging<Env>(env, a.parameters[1]), a.parameters[0]);
    env.publish(table_step);
    if (mine.place == Place::memory) {
        co_await env.until(a.root);
        Entry const& there = table_of(env, a.root)[env.rank()];
        void const* from = reinterpret_cast<void const*>(mine.at);
        if (there.place == Place::memory && env.put(a.root, there.at, from, std::min(n, there.bytes))) {
            env.sent(a.root, has_all);
            co_return;
        }
    }
    co_await leaf_stream(env, a, mine);
}

template <class Env>
Task take_large(Env& env, RootedArgs const& a, int peer, Truncation& truncation) {
    Entry const& e = *table_of(env, peer);
    Staging<Env> staging(env, e.piece);
    co_await env.until_sent(peer, has_all);
    if (env.sent_by(peer) == has_all) {
        if (e.bytes > a.parts[peer].bytes()) truncation.note(peer, e.bytes, a.parts[peer].bytes());
        co_return;
    }
    for (std::uint64_t k = 0; k < e.pieces(); ++k) {
        co_await env.until_sent(peer, refused + k + 1);
        std::size_t const at = k * e.piece;
        deliver<Env>(a.parts[peer], at, staging.buffer(peer, e, k), std::min<std::size_t>(e.piece, e.bytes - at),
                     e.bytes, peer, truncation);
        env.taken(peer, k + 1);
    }
}

template <class Env>
Task root(Env& env, RootedArgs const& a) {
    Truncation truncation;
    bool any_large = false;
    if (!a.in_place_at_root) deliver_own(a.parts[a.root], a.mine, a.root, truncation);
    for (int i = 1; i < env.size(); ++i) {
        int const peer = (a.root + i) % env.size();
        co_await env.until(peer);
        std::size_t const n = env.published(peer) - 1;
        if (n + 1 == table_step) any_large = true;
        else deliver<Env>(a.parts[peer], 0, env.slot(peer, n), n, n, peer, truncation);
    }
    if (any_large) {
        env.expose_staged();
        Staging<Env> const staging(env, a.parameters[1]);
        for (int i = 0; i < env.size(); ++i)
            if (i != a.root) my_table(env)[i] = describe(env, a.parts[i], staging, 0);
        env.publish(table_step);
        for (int i = 1; i < env.size(); ++i) {
            int const peer = (a.root + i) % env.size();
            if (env.published(peer) == table_step) co_await take_large(env, a, peer, truncation);
        }
    }
    truncation.check();
}

template <class Env>
Task sender_writing(Env& env, RootedArgs const& a) { return env.rank() == a.root ? root(env, a) : leaf(env, a); }

}  // namespace

constinit const Algorithm<RootedArgs> sender_writing_algorithm = {
    "sender_writing", "small parts in the leaves' slots, large ones written into the root's memory",
    "KNEM-Coll, section V.B", needs_nothing, movement_parameters, TUTTI_RUNS(sender_writing)};

}  // namespace tutti::coll::algorithms::gather
