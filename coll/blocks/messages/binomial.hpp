// SPDX-License-Identifier: BSD-3-Clause
// Movements along a binomial tree by messages: place 0 is the root's, the others follow in the order of ranks.
// ⌈log2 p⌉ messages in a row. A subtree has consecutive places, so that what is for it or from it is one message.
#pragma once

#include "coll/blocks/messages/linear.hpp"
#include "coll/blocks/trees/tree_place.hpp"

namespace tutti::coll {

/// One rank's place in the binomial tree under a root; the numbers are those of places.
struct BinomialPlace : TreePlace {
    template <class Env>
    BinomialPlace(Env& env, int of_root) : BinomialPlace(env.frames(), env.rank(), of_root, env.size()) {}
    BinomialPlace(FramePool& frames, int rank, int of_root, int ranks)
        : TreePlace(binomial_tree(frames, (rank - of_root + ranks) % ranks, ranks)), root(of_root), size(ranks),
          place((rank - of_root + ranks) % ranks) {}

    int rank_at(int p) const { return (p + root) % size; }
    int parent_rank() const { return rank_at(parent); }
    /// The first place behind the subtree under `p`.
    int end_of(int p) const { return p == 0 ? size : std::min(size, p + (p & -p)); }
    int end() const { return end_of(place); }

    int root, size, place;
};

/// Hands part(child's place) to each child, the one with the largest subtree first; all of them read at once.
/// finish_children when this rank may wait for them.
template <class Env, class Part>
Task start_children(Env& env, Messages<Env>& m, BinomialPlace const& at, Part part) {
    for (auto child = at.children.rbegin(); child != at.children.rend(); ++child)
        co_await m.start(at.rank_at(*child), part(*child));
}
template <class Env>
Task finish_children(Env& env, Messages<Env>& m, BinomialPlace const& at) {
    for (auto child = at.children.rbegin(); child != at.children.rend(); ++child) co_await m.finish(at.rank_at(*child));
}

template <class Env>
Task binomial_bcast(Env& env, BcastArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    BinomialPlace const at(env, a.root);
    std::size_t const bytes = a.data.bytes(), working_set = bytes * static_cast<std::size_t>(env.size());
    if (at.place > 0) co_await receive_part(env, m, at.parent_rank(), a.data, working_set, truncation);
    co_await start_children(env, m, at, [&](int) -> MessagePart { return {a.data, 0, bytes}; });
    co_await finish_children(env, m, at);
    co_await m.close();
    truncation.check(env);
}

}   // namespace tutti::coll
