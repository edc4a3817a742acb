// SPDX-License-Identifier: BSD-3-Clause
// Linear and binomial movements by messages.
//
// Linear: each message goes directly between the two ranks of a part: to a root, from a root, between all ranks. Used
// as baselines, and by other algorithms for small parts. p − 1 messages at the root, or at every rank. What the root or
// a rank sends is in flight to all peers concurrently; the parts that a root receives arrive one after the other.
// Bytes: n per part by single copy, else 2n.
#pragma once

#include "coll/blocks/messages.hpp"
#include "coll/blocks/movement.hpp"
#include "coll/blocks/tree.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

/// Receives a whole part, and records if it was too long.
template <class Env>
Task receive_part(Env& env, Messages<Env>& m, int from, Buffer to, std::size_t working_set, Truncation& truncation) {
    co_await m.receive(from, to.bytes(), m.into(to, 0, working_set));
    truncation.compare(from, m.received(from), to.bytes());
}

/// The root's part of a broadcast or a scatter: starts to send part(rank) to each of the other ranks; finish_all waits
/// for them.
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

/// Messages for alltoall algorithms: parts that are exchanged in place are never exposed.
template <class Env>
Messages<Env> alltoall_messages(Env& env, AlltoallArgs const& a) {
    constexpr std::size_t never = ~std::size_t{0};
    return Messages<Env>(env, a.is_in_place ? MessageOptions{.direct = never, .cma = never} : MessageOptions{});
}
inline Buffer outgoing(AlltoallArgs const& a, int peer) { return a.is_in_place ? a.receive[peer] : a.send[peer]; }

/// The memory that all ranks read and write for parts of `part` bytes: the working set of the copies (Copier::copy).
inline std::size_t all_to_all_bytes(std::size_t part, int ranks) {
    auto const p = static_cast<std::size_t>(ranks);
    return 2 * part * p * p;
}

/// Works in place as well: parts between two ranks then have the same size in both directions (MPI 3.1, 5.8).
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
        peers, peers,
        [&a](int to) -> MessagePart {
            return {outgoing(a, to), 0, outgoing(a, to).bytes()};
        },
        [&a](int from) { return a.receive[from].bytes(); }, [&](int from) { return m.into(a.receive[from], 0, all); });
    for (int peer : peers) truncation.compare(peer, m.received(peer), a.receive[peer].bytes());
    co_await m.close();
    truncation.check(env);
}

// Binomial movements by messages: virtual rank (vrank) 0 is the root, the others follow in rank order. ⌈log2 p⌉
// messages in a row. A subtree has consecutive vranks, so that everything for it or from it is one message.

/// One rank's position in the binomial tree under a root; the numbers are vranks.
struct BinomialPosition : TreePosition {
    template <class Env>
    BinomialPosition(Env& env, int root_rank) : BinomialPosition(env.frames(), env.rank(), root_rank, env.size()) {}
    BinomialPosition(FramePool& frames, int rank, int root_rank, int ranks)
        : TreePosition(binomial_tree(frames, (rank - root_rank + ranks) % ranks, ranks)), root(root_rank), size(ranks),
          vrank((rank - root_rank + ranks) % ranks) {}

    int rank_at(int p) const { return (p + root) % size; }
    int parent_rank() const { return rank_at(parent); }
    /// The first vrank after the subtree under `p`.
    int end_of(int p) const { return p == 0 ? size : std::min(size, p + (p & -p)); }
    int end() const { return end_of(vrank); }

    int root, size, vrank;
};

/// Starts to send part(child's vrank) to each child, the one with the largest subtree first; all children read
/// concurrently. finish_children waits for them.
template <class Env, class Part>
Task start_children(Env& env, Messages<Env>& m, BinomialPosition const& tree, Part part) {
    for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child)
        co_await m.start(tree.rank_at(*child), part(*child));
}
template <class Env>
Task finish_children(Env& env, Messages<Env>& m, BinomialPosition const& tree) {
    for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child)
        co_await m.finish(tree.rank_at(*child));
}

template <class Env>
Task binomial_bcast(Env& env, BcastArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    BinomialPosition const tree(env, a.root);
    std::size_t const bytes = a.data.bytes(), working_set = bytes * static_cast<std::size_t>(env.size());
    if (tree.vrank > 0) co_await receive_part(env, m, tree.parent_rank(), a.data, working_set, truncation);
    co_await start_children(env, m, tree, [&](int) -> MessagePart { return {a.data, 0, bytes}; });
    co_await finish_children(env, m, tree);
    co_await m.close();
    truncation.check(env);
}

}   // namespace tutti::coll
