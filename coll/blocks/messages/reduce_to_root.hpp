// SPDX-License-Identifier: BSD-3-Clause
// Reduce along a tree of messages whose top need not be the root: the top then hands each segment of the result to the
// root, which takes it while it still gives its own operands upwards (d + 1 segments later, if it is d steps below the
// top; why that moves: tree_flow.hpp).
#pragma once

#include "coll/blocks/trees/branch.hpp"
#include "coll/blocks/messages/tree_flow.hpp"

namespace tutti::coll {

template <class Env>
Task reduce_to_root(Env& env, ReduceArgs const& a, Position position, int top, std::size_t segment) {
    Messages<Env> m(env, element_of(a));
    Segments const segments(a.bytes(), element_of(a), segment);
    bool const keeps = env.rank() == top && top == a.root, takes = env.rank() == a.root && top != a.root;
    auto const lag = takes ? static_cast<std::uint64_t>(position.depth) + 1 : 0;
    if (env.rank() == top && !keeps) position.parent = a.root;
    CombineUp<Env> up(env, m, a, std::move(position), segments, keeps);
    PassDown<Env> result_of_top(env, m, result(a), top, {}, segments);
    co_await flow(env, up, takes ? &result_of_top : nullptr, segments.count, lag);
    co_await m.close();
}

/// The same among ranks in a circle, by the shape of a tree with the root at the top; for an operator that does not
/// commute with rank 0 there.
template <class Env>
Task reduce_by_shape(Env& env, ReduceArgs const& a, Branch (*shape)(int, int), std::size_t segment) {
    int const n = env.size(), top = a.op->commutative ? a.root : 0;
    Branch const b = shape((env.rank() - top + n) % n, n);
    Position position{.depth = b.depth};
    if (b.parent >= 0) position.parent = (b.parent + top) % n;
    for (int child : b.children) position.after.push_back((child + top) % n);
    co_await reduce_to_root(env, a, std::move(position), top, segment);
}

/// A rank's position in trees of such a shape with the root at the top. Operators that do not commute have one tree on
/// each side of the root, over the ranks before it and after it.
inline Position position_under(int root, int rank, int n, Branch (*shape)(int, int), bool commutes) {
    Position p;
    if (commutes) {
        Branch const b = shape((rank - root + n) % n, n);
        p.depth = b.depth;
        if (b.parent >= 0) p.parent = (b.parent + root) % n;
        for (int child : b.children) p.after.push_back((child + root) % n);
        return p;
    }
    if (rank <= root) {
        Branch const b = shape(root - rank, root + 1);
        p.depth = b.depth;
        if (b.parent >= 0) p.parent = root - b.parent;
        for (auto child = b.children.rbegin(); child != b.children.rend(); ++child) p.before.push_back(root - *child);
    }
    if (rank >= root) {
        Branch const b = shape(rank - root, n - root);
        p.depth = b.depth;
        if (b.parent >= 0) p.parent = root + b.parent;
        for (int child : b.children) p.after.push_back(root + child);
    }
    return p;
}

}  // namespace tutti::coll
