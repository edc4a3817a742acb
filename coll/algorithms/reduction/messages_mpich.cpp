// SPDX-License-Identifier: BSD-3-Clause
// MPICH's reductions with a master per node: mpich_hierarchical for allreduce and reduce. Both begin with MPICH's
// ordinary reduce (coll/blocks/ordinary.hpp) on each node to its master, which chooses its algorithm by size. On a
// single node they are the ordinary collective.
//
// allreduce/mpich_hierarchical, whole: (1) that reduce; (2) the ordinary allreduce among the masters; (3) the ordinary
// broadcast on each node. With N nodes of c ranks, short vectors take 2 ⌈log2 c⌉ + ⌈log2 N⌉ (+ 2) consecutive messages
// of s bytes. In segments, a form that the paper does not have: up one tree, binomial on nodes and binary among
// masters, to the first master, and down it while later segments move up; at most 2 ⌈log2 c⌉ + 4 ⌊log2 N⌋ + s/segment
// messages.
// Time: the sum of the steps, by the model of section 3.1; in segments that of a broadcast in each direction, which
// overlap if there are several segments.
// Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.3.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/nodes.hpp"
#include "coll/blocks/ordinary.hpp"
#include "coll/blocks/tree_flow.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

/// Memory for a result that is not the user's.
inline TypedBuffer memory_for_result(FramePool& frames, ReduceArgs const& a) { return {*a.type, a.count, &frames}; }

/// The first step: reduces the operands of a node into `partial` of its master, and lets `among`, the arguments of the
/// second step, begin there. A rank that is alone on its node has nothing to do.
template <class Env>
Task reduce_on_node(Env& node, ReduceArgs const& a, std::size_t halving, TypedBuffer& partial, ReduceArgs& among) {
    if (node.size() == 1) co_return;
    ReduceArgs inside = a;
    inside.in = operand(a).address;
    inside.root = 0;
    if (node.rank() == 0) {
        partial = memory_for_result(node.frames(), a);
        inside.out = partial.origin();
        among.in = partial.origin();
    }
    co_await ordinary_reduce(node, inside, halving);
}

}   // namespace tutti::coll

namespace tutti::coll::algorithms::allreduce {
namespace {

template <class Env>
Task three_steps(Env& env, ReduceArgs const& a, std::size_t halving, BcastSizes sizes) {
    Partition const& nodes = env.nodes();
    int const mine = nodes.part_of(env.rank());
    Team<Env> node(env, ranks_of_node(env.frames(), nodes, mine));
    TypedBuffer partial;
    ReduceArgs among = a;
    PhaseClock clock(env);
    co_await reduce_on_node(node, a, halving, partial, among);
    clock.end_before();
    env.begin_phase();
    if (node.rank() == 0) {
        Team<Env> masters(env, nodes.masters(env.frames()));
        co_await ordinary_allreduce(masters, among, halving);
        clock.end_between();
    }
    env.begin_phase();
    BcastArgs down{};
    down.data = result(a);
    if (node.size() > 1) co_await ordinary_bcast(node, down, sizes);
    clock.end_after();
}

template <class Env>
Task reduce_segments(Env& env, ReduceArgs const& a) {
    Messages<Env> m(env, element_of(a));
    Segments const segments(a.bytes(), element_of(a), a.parameters[1]);
    TreePosition const position = position_under_master(env.frames(), env.nodes(), env.rank(), 0, binary_tree);
    CombineUp<Env> up(env, m, a, position, segments, position.parent < 0);
    PassDown<Env> down(env, m, result(a), position, segments);
    co_await flow(env, up, &down, segments.count, 2 * static_cast<std::uint64_t>(position.depth));
    co_await m.close();
}

}   // namespace

template <class Env>
Task mpich_hierarchical(Env& env, ReduceArgs const& a) {
    std::size_t const halving = a.parameters[3];
    if (a.parameters[2] == 0 || a.bytes() == 0) return reduce_segments(env, a);
    if (env.nodes().count() == 1) return ordinary_allreduce(env, a, halving);
    return three_steps(env, a, halving, {a.parameters[4], a.parameters[5], a.parameters[6]});
}

constexpr Parameter mpich_hierarchical_parameters[] = {
    hierarchy_parameter,
    {"segment", 5120, "bytes forwarded at a time if pipelined"},
    {"form", 1, "in segments up and down one tree of messages (not in the paper), or whole by ordinary collectives",
     ParameterKind::keyword, "pipelined|whole"},
    halving_parameter,
    scatter_parameter,
    ring_parameter,
    few_parameter,
};
extern constinit const Algorithm<ReduceArgs> mpich_hierarchical_algorithm = {
    "mpich_hierarchical",
    "nodes reduce to their masters, masters combine, each master to its node, by messages",
    Family::mpich,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.3",
    requires_commutative_or_consecutive | requires_reassociation,
    mpich_hierarchical_parameters,
    TUTTI_SHM_AND_NET(mpich_hierarchical),
    {"form < 1 ? (p - 1)*(5*s + 2*staged(s, segment)) : "
     "teams(h = halving < s ? s/e < power(n, 2) ? 0 : 1 : 0; allgather = s < ring ? power(n, 2) < n ? 0 : 1 : 0; "
     "top < 1 ? (h < 1 ? reduce_binomial(n) : reduce_rabenseifner(n)) + "
     "(s < scatter ? bcast_binomial(n) : n < few ? bcast_binomial(n) : bcast_scatter_allgather(n)) : "
     "h < 1 ? allreduce_recursive_doubling(n) : allreduce_rabenseifner(n))",
     "form < 1 ? segment < s ? phases(min(1, log2(n))*beta*s) : phases(2*(1 + alpha*top)*log2(n)*t(s)) : "
     "N < 2 ? (halving < s ? s/e < power(c, 2) ? allreduce_recursive_doubling(c) : allreduce_rabenseifner(c) : "
     "allreduce_recursive_doubling(c)) : "
     "phases(h = halving < s ? s/e < power(n, 2) ? 0 : 1 : 0; allgather = s < ring ? power(n, 2) < n ? 0 : 1 : 0; "
     "top < 1 ? (h < 1 ? reduce_binomial(n) : reduce_rabenseifner(n)) + "
     "(s < scatter ? bcast_binomial(n) : n < few ? bcast_binomial(n) : bcast_scatter_allgather(n)) : "
     "h < 1 ? allreduce_recursive_doubling(n) : allreduce_rabenseifner(n))"}};

}   // namespace tutti::coll::algorithms::allreduce

// reduce/mpich_hierarchical: (1) the reduce on each node; (2) a reduce among the masters to that of the root's node: as
// a whole by the ordinary reduce, or in segments along a binary tree (under the first master, if the operator is not
// commutative); (3) that master sends the result to the root if the root is another rank. With N nodes of c ranks,
// short vectors take ⌈log2 c⌉ + ⌈log2 N⌉ + 1 consecutive messages of s bytes as a whole; in segments, step 2 takes at
// most 2 ⌊log2 N⌋ + s/segment (+ 1).
// Time: as bcast/mpich_hierarchical (section 4.3).
// Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.2: "non-pipelined" and "pipelined".

namespace tutti::coll::algorithms::reduce {
namespace {

/// Sends `from` to another rank of the environment, `to` of which is its result buffer. Called by the two ranks only.
template <class Env>
Task pass_result(Env& env, Buffer from, int sender, int receiver, Buffer to) {
    Messages<Env> m(env);
    if (env.rank() == sender) co_await m.send(receiver, {from, 0, from.bytes()});
    else co_await m.receive(sender, to.bytes(), m.into(to, 0));
    co_await m.close();
}

template <class Env>
Task to_master_to_root(Env& env, ReduceArgs const& a, std::size_t segment, std::size_t halving) {
    Partition const& nodes = env.nodes();
    int const mine = nodes.part_of(env.rank()), top_node = nodes.part_of(a.root), top = nodes.master(top_node);
    Team<Env> node(env, ranks_of_node(env.frames(), nodes, mine));
    TypedBuffer partial, total;
    ReduceArgs among = a;
    among.root = top_node;
    PhaseClock clock(env);
    co_await reduce_on_node(node, a, halving, partial, among);
    clock.end_before();
    env.begin_phase();
    if (node.rank() == 0) {
        Team<Env> masters(env, nodes.masters(env.frames()));
        if (env.rank() == top && top != a.root) {
            total = memory_for_result(env.frames(), a);
            among.out = total.origin();
        }
        if (segment == one_segment) co_await ordinary_reduce(masters, among, halving);
        else co_await reduce_by_shape(masters, among, binary_tree, segment);
        clock.end_between();
    }
    env.begin_phase();
    if (top != a.root && (env.rank() == top || env.rank() == a.root))
        co_await pass_result(node, result(among), 0, nodes.index_of(a.root), result(a));
    clock.end_after();
}

}   // namespace

template <class Env>
Task mpich_hierarchical(Env& env, ReduceArgs const& a) {
    std::size_t const halving = a.parameters[3];
    if (a.bytes() == 0 || env.nodes().count() == 1) return ordinary_reduce(env, a, halving);
    return to_master_to_root(env, a, a.parameters[2] == 0 ? a.parameters[1] : one_segment, halving);
}

constexpr Parameter mpich_hierarchical_parameters[] = {
    hierarchy_parameter,
    {"segment", 5120, "bytes forwarded at a time between masters if pipelined"},
    {"form", 0, "between masters in segments along a binary tree, or whole by the ordinary reduce",
     ParameterKind::keyword, "pipelined|whole"},
    halving_parameter,
};
extern constinit const Algorithm<ReduceArgs> mpich_hierarchical_algorithm = {
    "mpich_hierarchical",
    "nodes reduce to their masters, masters to one master, which sends to the root",
    Family::mpich,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.2",
    requires_commutative_or_consecutive | requires_reassociation,
    mpich_hierarchical_parameters,
    TUTTI_SHM_AND_NET(mpich_hierarchical),
    {"teams(h = halving < s ? s/e < power(n, 2) ? 0 : 1 : 0; "
     "top*m*(1 - form) < 2 ? (h < 1 ? reduce_binomial(n) : reduce_rabenseifner(n, at)) : "
     "(n - 1)*(3*s + staged(s, segment))) + (m < 2 ? 0 : leads < 1 ? 2*s + staged(s) : 0)",
     "N*(1 - form) < 2 ? "
     "phases(h = halving < s ? s/e < power(n, 2) ? 0 : 1 : 0; h < 1 ? reduce_binomial(n) : reduce_rabenseifner(n)) : "
     "segment < s ? phases(min(1, log2(n))*beta*s) : phases((1 + alpha*top)*log2(n)*t(s))"}};

}   // namespace tutti::coll::algorithms::reduce
