// SPDX-License-Identifier: BSD-3-Clause
// MPICH's reductions with a master per node: mpich_hierarchical for allreduce and reduce.
//
// allreduce/mpich_hierarchical, as a whole: each node reduces along a binomial tree to its master, the masters combine
// by recursive doubling, and the result returns along the same trees. In segments: up one tree, binomial on nodes and
// binary among masters, to the first master, and down it while later segments move up. With N nodes of c ranks:
// 2 ⌈log2 c⌉ + ⌈log2 N⌉ (+ 2) steps of s bytes as a whole, at most 2 ⌈log2 c⌉ + 4 ⌊log2 N⌋ + s/segment in segments.
// Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.3; recursive doubling: Thakur, Rabenseifner, Gropp, IJHPCA
// 2005.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/nodes.hpp"
#include "coll/blocks/tree_flow.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll::algorithms::allreduce {
namespace {

/// Recursive doubling among masters, in the order of nodes. If their number exceeds a power of two, as many pairs of
/// neighbours as there are masters in excess first combine, and the first rank of each pair then waits for the result.
/// On return `sum` is the result.
template <class Env>
Task double_masters(Env& env, Messages<Env>& m, ReduceArgs const& a, NodePartition const& nodes, std::byte* sum) {
    Reducer reducer(env.traffic(), a);
    std::size_t const bytes = a.bytes(), element = element_of(a);
    int const n = nodes.count(), node = nodes.own_part();
    int power = 1;
    while (2 * power <= n) power *= 2;
    int const extra = n - power;
    bool const paired = node < 2 * extra;
    int const vrank = paired ? node / 2 : node - extra;
    auto master_at = [&](int p) { return nodes.master(p < extra ? 2 * p + 1 : p + extra); };
    PooledBytes const scratch(env.frames(), bytes);
    std::byte *mine = sum, *next = scratch.get();   // a partner may be reading `mine`

    if (paired && node % 2 == 0) {
        co_await m.send(nodes.master(node + 1), packed_part(sum, bytes));
        auto keep = [&](std::byte const* from, std::size_t at, std::size_t k) { env.copy(sum + at, from, k, 0); };
        co_await m.receive(nodes.master(node + 1), bytes, keep);
        co_return;
    }
    if (paired) {
        auto add = [&](std::byte const* from, std::size_t at, std::size_t k) {
            reducer.accumulate(from, sum + at, k / element);
        };
        co_await m.receive(nodes.master(node - 1), bytes, add);
    }
    for (int bit = 1; bit < power; bit *= 2) {
        bool const lower = (vrank & bit) != 0;   // the partner's operands come first
        auto combine = [&](std::byte const* from, std::size_t at, std::size_t k) {
            void const* operands[] = {lower ? from : mine + at, lower ? mine + at : from};
            reducer.combine(operands, 2, next + at, k / element);
        };
        int const partner = master_at(vrank ^ bit);
        co_await m.exchange(partner, packed_part(mine, bytes), partner, bytes, combine);
        std::swap(mine, next);
    }
    if (mine != sum) env.copy(sum, mine, bytes, 0);
    if (paired) co_await m.send(nodes.master(node - 1), packed_part(sum, bytes));
}

template <class Env>
Task reduce_whole(Env& env, ReduceArgs const& a, NodePartition const& nodes) {
    Messages<Env> m(env, element_of(a));
    Segments const one(a.bytes(), element_of(a), one_segment);
    TreePosition const position = position_in_node(env.frames(), nodes, env.rank());
    bool const master = position.parent < 0;
    CombineUp<Env> up(env, m, a, position, one, master);
    PassDown<Env> down(env, m, result(a), position, one);
    if (a.bytes() > 0) {
        co_await up.segment(0);
        co_await up.finish();
        if (master && nodes.count() > 1) {
            co_await double_masters(env, m, a, nodes, up.sum(0));
            if (!a.type->dense(a.count)) env.store(result(a), 0, up.sum(0), a.bytes());
        }
        co_await down.segment(0);
        co_await down.finish();
    }
    co_await m.close();
}

template <class Env>
Task reduce_segments(Env& env, ReduceArgs const& a, NodePartition const& nodes) {
    Messages<Env> m(env, element_of(a));
    Segments const segments(a.bytes(), element_of(a), a.parameters[1]);
    TreePosition const position = position_under_master(env.frames(), nodes, env.rank(), 0, binary_tree);
    CombineUp<Env> up(env, m, a, position, segments, position.parent < 0);
    PassDown<Env> down(env, m, result(a), position, segments);
    co_await flow(env, up, &down, segments.count, 2 * static_cast<std::uint64_t>(position.depth));
    co_await m.close();
}

}   // namespace

template <class Env>
Task mpich_hierarchical(Env& env, ReduceArgs const& a) {
    NodePartition const nodes(env.hierarchy(), env.rank());
    if (a.parameters[2] == 0) co_await reduce_segments(env, a, nodes);
    else co_await reduce_whole(env, a, nodes);
}

constexpr Parameter mpich_hierarchical_parameters[] = {
    hierarchy_parameter,
    {"segment", 5120, "bytes forwarded at a time if pipelined"},
    {"form", 0, "in segments along a binary tree of masters, or whole with recursive doubling among them",
     ParameterKind::keyword, "pipelined|whole"},
};
extern constinit const Algorithm<ReduceArgs> mpich_hierarchical_algorithm = {
    "mpich_hierarchical",
    "nodes reduce to their masters, masters combine, each master to its node, by messages",
    Family::mpich,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.3",
    requires_commutative_or_consecutive | requires_reassociation,
    mpich_hierarchical_parameters,
    TUTTI_SHM_AND_NET(mpich_hierarchical),
    {"q = power(m, 2); form < 1 ? (p - 1)*(5*s + 2*staged(s, segment)) : (p - q)*(5*s + 2*staged(s)) + "
     "q*(log(q, 2)*(3*s + staged(s)) + 2*mod(log(q, 2), 2)*s) + 2*a*s"}};

}   // namespace tutti::coll::algorithms::allreduce

// reduce/mpich_hierarchical: each node reduces along a binomial tree to its master, the masters to that of the root's
// node (of the first node, if the operator is not commutative), and that one to the root; in segments along a binary
// tree of masters, or as a whole along a binomial one. With N nodes of c ranks: ⌈log2 c⌉ + at most
// 2 ⌊log2 N⌋ + 1 + s/segment steps; each rank but the last sends s bytes, read in its buffer or staged once.
// Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.2; the reduction on a node is binomial for all sizes, as in
// figure 1.

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task mpich_hierarchical(Env& env, ReduceArgs const& a) {
    bool const pipelined = a.parameters[2] == 0;
    NodePartition const nodes(env.hierarchy(), env.rank());
    int const top_node = a.op->commutative ? nodes.part_of(a.root) : 0;
    TreePosition position =
        position_under_master(env.frames(), nodes, env.rank(), top_node, pipelined ? binary_tree : binomial_tree);
    co_await reduce_to_root(env, a, std::move(position), nodes.master(top_node),
                            pipelined ? a.parameters[1] : one_segment);
}

constexpr Parameter mpich_hierarchical_parameters[] = {
    hierarchy_parameter,
    {"segment", 5120, "bytes forwarded at a time if pipelined"},
    {"form", 0, "in segments along a binary tree of masters, or whole along a binomial one", ParameterKind::keyword,
     "pipelined|whole"},
};
extern constinit const Algorithm<ReduceArgs> mpich_hierarchical_algorithm = {
    "mpich_hierarchical",
    "nodes reduce to their masters, masters to one master, which sends to the root",
    Family::mpich,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.2",
    requires_commutative_or_consecutive | requires_reassociation,
    mpich_hierarchical_parameters,
    TUTTI_SHM_AND_NET(mpich_hierarchical),
    {"n = form < 1 ? staged(s, segment) : staged(s); (p - 1)*(3*s + n) + (leads < 1 ? 2*s + n : 0)"}};

}   // namespace tutti::coll::algorithms::reduce
