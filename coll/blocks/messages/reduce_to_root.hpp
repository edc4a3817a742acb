// SPDX-License-Identifier: BSD-3-Clause
// Reduce along a tree of messages whose top need not be the root: the top then hands each segment of the result to the
// root, which takes it while it still gives its own operands upwards (d + 1 segments later, if it is d steps below the
// top; why that moves: tree_flow.hpp).
#pragma once

#include "coll/blocks/messages/tree_flow.hpp"

namespace tutti::coll {

template <class Env>
Task reduce_to_root(Env& env, ReduceArgs const& a, TreePlace place, int top, std::size_t segment) {
    Messages<Env> m(env, element_of(a));
    Segments const segments(a.bytes(), element_of(a), segment);
    bool const keeps = env.rank() == top && top == a.root, takes = env.rank() == a.root && top != a.root;
    auto const lag = takes ? static_cast<std::uint64_t>(place.depth) + 1 : 0;
    if (env.rank() == top && !keeps) place.parent = a.root;
    TreePlace under_top(env.frames());
    under_top.parent = top;
    CombineUp<Env> up(env, m, a, std::move(place), segments, keeps);
    PassDown<Env> result_of_top(env, m, result(a), std::move(under_top), segments);
    co_await flow(env, up, takes ? &result_of_top : nullptr, segments.count, lag);
    co_await m.close();
}

/// The same among ranks in a circle, by the shape of a tree with the root at the top; for an operator that does not
/// commute with rank 0 there.
template <class Env>
Task reduce_by_shape(Env& env, ReduceArgs const& a, TreeShape shape, std::size_t segment) {
    int const top = a.op->commutative ? a.root : 0;
    return reduce_to_root(env, a, place_under(env.frames(), shape, top, env.rank(), env.size()), top, segment);
}

/// A rank's place in trees of such a shape with the root at the top. Operators that do not commute have one tree on
/// each side of the root, over the ranks before it and after it.
inline TreePlace place_around(FramePool& frames, TreeShape shape, int root, int rank, int n, bool commutes) {
    if (commutes) return place_under(frames, shape, root, rank, n);
    TreePlace t(frames);
    if (rank <= root) {
        t = shape(frames, root - rank, root + 1).named([root](int place) { return root - place; });
        t.before.assign(t.children.rbegin(), t.children.rend());
        t.children.clear();
    }
    if (rank >= root) {
        TreePlace after = shape(frames, rank - root, n - root).named([root](int place) { return root + place; });
        after.before.swap(t.before);
        return after;
    }
    return t;
}

}   // namespace tutti::coll
