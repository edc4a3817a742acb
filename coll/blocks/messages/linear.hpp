// SPDX-License-Identifier: BSD-3-Clause
// The linear movements by messages, each of them between two ranks for whom it is meant and no others: to a root, from
// a root, between all. They are baselines by themselves, and what others do with small parts.
// p − 1 messages at the root, or at every rank. What the root or a rank sends is under way to all at once; the parts
// that a root receives come in one after the other. Bytes: n per part by single copy, else 2n.
#pragma once

#include "coll/blocks/exchange/movement.hpp"
#include "coll/blocks/messages/messages.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

/// Receives a whole part, and notes if it was too long.
template <class Env>
Task receive_part(Env& env, Messages<Env>& m, int from, Buffer to, std::size_t working_set, Truncation& truncation) {
    co_await m.receive(from, to.bytes(), m.into(to, 0, working_set));
    truncation.compare(from, m.received(from), to.bytes());
}

/// The root's part of a broadcast or a scatter: part(rank) to each of the others. finish_all when it may wait for them.
template <class Env, class Part>
Task start_all(Env& env, Messages<Env>& m, Part part) {
    for (int i = 1; i < env.size(); ++i) {
        int const peer = (env.rank() + i) % env.size();
        co_await m.start(peer, part(peer));
    }
}
template <class Env>
Task finish_all(Env& env, Messages<Env>& m) {
    for (int i = 1; i < env.size(); ++i) co_await m.finish((env.rank() + i) % env.size());
}

template <class Env>
Task linear_gather(Env& env, RootedArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    std::size_t const working_set = 2 * a.mine.bytes() * static_cast<std::size_t>(env.size());
    if (env.rank() != a.root) {
        co_await m.send(a.root, {a.mine, 0, a.mine.bytes()});
    } else {
        if (!a.in_place_at_root) deliver_own(env, a.parts[a.root], a.mine, working_set, truncation);
        for (int i = 1; i < env.size(); ++i) {
            int const peer = (a.root + i) % env.size();
            co_await receive_part(env, m, peer, a.parts[peer], working_set, truncation);
        }
    }
    co_await m.close();
    truncation.check(env);
}

template <class Env>
Task linear_scatter(Env& env, RootedArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    std::size_t const working_set = 2 * a.mine.bytes() * static_cast<std::size_t>(env.size());
    if (env.rank() != a.root) {
        co_await receive_part(env, m, a.root, a.mine, working_set, truncation);
    } else {
        co_await start_all(env, m, [&a](int peer) -> MessagePart {
            Buffer const part = a.parts[peer];
            return {part, 0, part.bytes()};
        });
        if (!a.in_place_at_root) deliver_own(env, a.mine, a.parts[a.root], working_set, truncation);
        co_await finish_all(env, m);
    }
    co_await m.close();
    truncation.check(env);
}

/// What the algorithms for alltoall share: messages that are never shown where they lie if they are exchanged in place.
template <class Env>
Messages<Env> alltoall_messages(Env& env, AlltoallArgs const& a) {
    constexpr std::size_t never = ~std::size_t{0};
    return a.is_in_place ? Messages<Env>(env, 1, never, never) : Messages<Env>(env);
}
inline Buffer outgoing(AlltoallArgs const& a, int peer) { return a.is_in_place ? a.receive[peer] : a.send[peer]; }

/// What all ranks read and write of parts of `part` bytes: the working set of its copies (Copier::copy).
inline std::size_t all_to_all_bytes(std::size_t part, int ranks) {
    auto const p = static_cast<std::size_t>(ranks);
    return 2 * part * p * p;
}

/// In place, too: parts between two ranks then have the same size in both directions (MPI 3.1, 5.8).
template <class Env>
Task linear_alltoall(Env& env, AlltoallArgs const& a) {
    Messages<Env> m = alltoall_messages(env, a);
    Truncation truncation;
    int const size = env.size(), rank = env.rank();
    std::size_t const part = a.receive[rank].bytes(), all = all_to_all_bytes(part, size);
    PooledVector<int> peers(env.frames());
    for (int i = 1; i < size; ++i) peers.push_back((rank + i) % size);
    if (!a.is_in_place) deliver_own(env, a.receive[rank], a.send[rank], all, truncation);
    co_await m.exchange_all(
        std::span<int const>(peers),
        [&a](int to) -> MessagePart {
            return {outgoing(a, to), 0, outgoing(a, to).bytes()};
        },
        [&a](int from) { return a.receive[from].bytes(); }, [&](int from) { return m.into(a.receive[from], 0, all); });
    for (int peer : peers) truncation.compare(peer, m.received(peer), a.receive[peer].bytes());
    co_await m.close();
    truncation.check(env);
}

}   // namespace tutti::coll
