// SPDX-License-Identifier: BSD-3-Clause
// The prefix with a master per node that scan and exscan share: the ranks of each node by recursive doubling (1), whose
// first, the master, then has its sum; the masters an exclusive one by recursive doubling (2); what comes before a node
// along a binomial tree to the others there (3). In segments 3 follows 1 of the next one, while masters are at 2. Where
// some node's ranks do not follow each other: recursive doubling among all ranks. Zhu, Goodell, Gropp, Thakur,
// "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.5.
#pragma once

#include <numeric>

#include "coll/blocks/nodes/master_tree.hpp"
#include "coll/blocks/prefix/buffers.hpp"
#include "coll/blocks/prefix/doubling.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

/// Recursive doubling among all ranks.
template <class Env>
Task prefix_by_doubling(Env& env, ReduceArgs const& a, bool inclusive, std::size_t segment) {
    Messages<Env> m(env, element_of(a));
    Segments const segments(a.bytes(), element_of(a), segment);
    PrefixBuffers<Env> buffers(env, a, segments, inclusive);
    std::vector<int> ranks(static_cast<std::size_t>(env.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    PrefixDoubling<Env> all(env, m, a, ranks, env.rank(), segments.length);
    for (std::uint64_t k = 0; k < segments.count; ++k) {
        std::byte const* own = buffers.begin(k);
        co_await all.run(own, buffers.prefix(k), segments.bytes(k), inclusive);
        buffers.end(k);
    }
    co_await m.close();
}

/// What comes before a node, from its master to its other ranks.
template <class Env>
class BeforeNode {
public:
    BeforeNode(Env& env, Messages<Env>& m, ReduceArgs const& a, TreePlace place, std::size_t most, bool inclusive)
        : env_(env), m_(m), reducer_(env.traffic(), a), element_(element_of(a)), place_(std::move(place)),
          adds_(inclusive || place_.parent >= 0) {
        bool const hands_on = place_.parent < 0 || !place_.children.empty();
        if (hands_on) before_ = PooledBytes(env.frames(), most);
    }
    FramePool& frames() { return env_.frames(); }

    /// Where the master has it.
    std::byte* memory() { return before_.get(); }

    /// Hands `bytes` bytes of it down and puts them before `prefix`.
    Task run(std::byte* prefix, std::size_t bytes) {
        auto add = [&](std::byte const* from, std::size_t at, std::size_t n) {
            if (adds_) reducer_.accumulate(from, prefix + at, n / element_);
            else env_.copy(prefix + at, from, n, 0);
        };
        if (!before_) {
            co_await m_.receive(place_.parent, bytes, add);
            co_return;
        }
        auto keep = [&](std::byte const* from, std::size_t at, std::size_t n) {
            env_.copy(before_.get() + at, from, n, 0);
        };
        if (place_.parent >= 0) co_await m_.receive(place_.parent, bytes, keep);
        for (auto child = place_.children.rbegin(); child != place_.children.rend(); ++child)
            co_await m_.start(*child, packed_part(before_.get(), bytes));
        add(before_.get(), 0, bytes);
        for (int child : place_.children) co_await m_.finish(child);
    }

private:
    Env& env_;
    Messages<Env>& m_;
    Reducer reducer_;
    std::size_t element_;
    TreePlace place_;
    bool adds_;            ///< is there anything in the prefix? Not in a master's exclusive one.
    PooledBytes before_;   ///< at ranks that hand it on
};

inline constexpr Parameter prefix_by_nodes_parameters[] = {
    hierarchy_parameter,
    {"segment", 5120, "bytes that take the four steps at a time when pipelined"},
    {"form", 1, "in segments, or whole", ParameterKind::word, "pipelined|whole"},
};

template <class Env>
Task prefix_by_nodes(Env& env, ReduceArgs const& a, bool inclusive) {
    std::size_t const segment = a.parameters[2] == 0 ? a.parameters[1] : whole;
    Division const nodes(env.hierarchy(), env.rank());
    if (!nodes.consecutive()) {
        co_await prefix_by_doubling(env, a, inclusive, segment);
        co_return;
    }
    Messages<Env> m(env, element_of(a));
    Segments const segments(a.bytes(), element_of(a), segment);
    PrefixBuffers<Env> buffers(env, a, segments, inclusive);
    int const place = nodes.index_of(env.rank()), my_node = nodes.mine();
    bool const master = place == 0 && nodes.count() > 1;
    PooledVector<int> const masters = nodes.masters(env.frames());
    PrefixDoubling<Env> inside(env, m, a, nodes.members(), place, segments.length);
    PrefixDoubling<Env> among(env, m, a, masters, my_node, master ? segments.length : 0);
    BeforeNode<Env> before(env, m, a, place_in_node(env.frames(), nodes, env.rank()), segments.length, inclusive);

    for (std::uint64_t k = 0; k < segments.count + 1; ++k) {
        std::byte const* own = k < segments.count ? buffers.begin(k) : nullptr;
        if (own) co_await inside.run(own, buffers.prefix(k), segments.bytes(k), inclusive);
        if (own && my_node == 0) buffers.end(k);
        if (k > 0 && my_node > 0) {
            co_await before.run(buffers.prefix(k - 1), segments.bytes(k - 1));
            buffers.end(k - 1);
        }
        if (own && master) co_await among.run(inside.total(), before.memory(), segments.bytes(k), false);
    }
    co_await m.close();
}

}   // namespace tutti::coll
