// SPDX-License-Identifier: BSD-3-Clause
// Gather(v) and scatter(v) by messages, in shared memory and between nodes: binomial and linear. A leaf is a rank other
// than the root.
//
// gather/binomial: each rank collects the parts of its subtree and sends them to its parent as one message. ⌈log2 p⌉
// consecutive messages. Bytes: a part is copied once for each step to the root, ½·n·p·log2 p in all.
#include <memory>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/block_row.hpp"
#include "coll/blocks/linear.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll::algorithms::gather {
namespace {

/// Copies packed parts of `each` bytes, in the order of tree positions, to the root's buffers.
template <class Env>
auto store_parts(Env& env, RootedArgs const& a, int first_vrank, std::size_t each) {
    return [&env, &a, first_vrank, each](std::byte const* from, std::size_t at, std::size_t n) {
        for (std::size_t end = at + n; at < end;) {
            std::size_t const within = at % each, length = std::min(each - within, end - at);
            int const vrank = first_vrank + static_cast<int>(at / each);
            env.store(a.parts[(vrank + a.root) % env.size()], within, from, length);
            from += length;
            at += length;
        }
    };
}

}   // namespace

template <class Env>
Task binomial(Env& env, RootedArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    BinomialPosition const tree(env, a.root);
    std::size_t const each = a.max_part_bytes, under = each * static_cast<std::size_t>(tree.end() - tree.vrank);
    bool const root = tree.vrank == 0;
    PooledBytes packed;
    if (root && !a.in_place_at_root) deliver_own(env, a.parts[a.root], a.mine, 2 * under, truncation);
    if (!root && !tree.children.empty()) {
        packed = PooledBytes(env.frames(), under);
        env.load(packed.get(), a.mine, 0, each);
    }
    for (int child : tree.children) {
        if (each == 0) break;
        int const from = tree.rank_at(child);
        std::size_t const bytes = each * static_cast<std::size_t>(tree.end_of(child) - child);
        std::size_t const before = each * static_cast<std::size_t>(child - tree.vrank);
        if (root) co_await m.receive(from, bytes, store_parts(env, a, child, each));
        else co_await m.receive(from, bytes, m.into(packed_buffer(packed.get(), under), before));
        truncation.compare(from, m.received(from), bytes);
    }
    if (!root && each > 0) {
        ConstBuffer const out = packed ? packed_buffer(packed.get(), under) : a.mine;
        co_await m.send(tree.parent_rank(), {out, 0, under});
    }
    co_await m.close();
    truncation.check(env);
}

extern constinit const Algorithm<RootedArgs> binomial_algorithm = {
    "binomial",
    "every rank sends the parts of its subtree to its parent",
    Family::baseline,
    "folklore; the default of several MPI libraries for short messages",
    requires_equal_parts | requires_bounded_gather,
    {},
    TUTTI_SHM_AND_NET(binomial),
    {"2*floor(p/2)*s + "
     "doubling(d, p, f = floor(p/d/2); r = max(0, mod(p, 2*d) - d); 2*(f*d + r)*s + f*staged(d*s) + staged(r*s))"}};

// gather/linear: a message from each leaf to the root, which receives them one after the other. p − 1 consecutive
// messages. Bytes: n per part by single copy, otherwise 2n; the root's core copies every part.

template <class Env>
Task linear(Env& env, RootedArgs const& a) {
    return linear_gather(env, a);
}

extern constinit const Algorithm<RootedArgs> linear_algorithm = {"linear",
                                                                 "every leaf sends to the root",
                                                                 Family::baseline,
                                                                 "folklore",
                                                                 requires_nothing,
                                                                 {},
                                                                 TUTTI_SHM_AND_NET(linear),
                                                                 {"2*p*s + (p - 1)*staged(s)"}};

}   // namespace tutti::coll::algorithms::gather

// scatter/binomial: each rank receives the parts of its subtree as one message and forwards those of its children.
// ⌈log2 p⌉ consecutive messages. Bytes: a part is copied once for each step on its way, ½·n·p·log2 p in all, and once
// more at a root that is not rank 0 or whose parts are not contiguous.

namespace tutti::coll::algorithms::scatter {

template <class Env>
Task binomial(Env& env, RootedArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    BinomialPosition const tree(env, a.root);
    int const size = env.size();
    std::size_t const each = a.max_part_bytes, under = each * static_cast<std::size_t>(tree.end() - tree.vrank);
    bool const root = tree.vrank == 0;
    PooledBytes packed;
    Buffer parts = a.mine;   // of the subtree, in the order of tree positions
    if (root ? a.root != 0 || !merge_adjacent_parts(a.parts, size, parts) : !tree.children.empty()) {
        packed = PooledBytes(env.frames(), under);
        parts = packed_buffer(packed.get(), under);
    }
    for (int vrank = 1; root && packed && vrank < size; ++vrank)
        env.load(packed.get() + each * static_cast<std::size_t>(vrank), a.parts[tree.rank_at(vrank)], 0, each);

    if (!root && each > 0) {
        std::size_t const working_set = 2 * each * static_cast<std::size_t>(size);
        co_await m.receive(tree.parent_rank(), under, m.into(parts, 0, working_set));
        truncation.compare(tree.parent_rank(), m.received(tree.parent_rank()), under);
    }
    if (each > 0)
        co_await start_children(env, m, tree, [&](int child) -> MessagePart {
            return {parts, each * static_cast<std::size_t>(child - tree.vrank),
                    each * static_cast<std::size_t>(tree.end_of(child) - child)};
        });
    if (root && !a.in_place_at_root) deliver_own(env, a.mine, a.parts[a.root], 2 * under, truncation);
    if (!root && packed) env.store(a.mine, 0, packed.get(), each);
    co_await finish_children(env, m, tree);
    co_await m.close();
    truncation.check(env);
}

extern constinit const Algorithm<RootedArgs> binomial_algorithm = {
    "binomial",
    "every rank forwards the parts of its children's subtrees",
    Family::baseline,
    "folklore; the first half of van de Geijn's broadcast",
    requires_equal_parts | requires_bounded_gather,
    {},
    TUTTI_SHM_AND_NET(binomial),
    {"2*((0 < root ? p - 1 : 0) + floor(p/2))*s + "
     "doubling(d, p, f = floor(p/d/2); r = max(0, mod(p, 2*d) - d); 2*(f*d + r)*s + f*staged(d*s) + staged(r*s))"}};

// scatter/linear: a message from the root to each leaf, all in flight at the same time. One step for the leaves, p − 1
// for the root if parts are staged. Bytes: n per part by single copy, otherwise 2n.

template <class Env>
Task linear(Env& env, RootedArgs const& a) {
    return linear_scatter(env, a);
}

extern constinit const Algorithm<RootedArgs> linear_algorithm = {"linear",
                                                                 "the root sends to every leaf",
                                                                 Family::baseline,
                                                                 "folklore",
                                                                 requires_nothing,
                                                                 {},
                                                                 TUTTI_SHM_AND_NET(linear),
                                                                 {"2*p*s + (p - 1)*staged(s)"}};

}   // namespace tutti::coll::algorithms::scatter
