// SPDX-License-Identifier: BSD-3-Clause
// Barrier with a master per node: the ranks of each node by dissemination, the masters by dissemination, and each
// master releases its node along a binomial tree. With N nodes of c ranks: 2 ⌈log2 c⌉ + ⌈log2 N⌉ messages in a row, of
// no bytes (the paper's release has one byte because a broadcast of none would send nothing there). One node alone is
// done after the first step.
// Zhu, Goodell, Gropp, Thakur, section 3.4.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/dissemination.hpp"
#include "coll/blocks/nodes/master_tree.hpp"

namespace tutti::coll::algorithms::barrier {

template <class Env>
Task mpich_hierarchical(Env& env, BarrierArgs const&) {
    constexpr std::uint64_t release = 2;   // the second message of a pair
    Division const nodes(env.hierarchy(), env.rank());
    int const place = nodes.index_of(env.rank());
    co_await disseminate(env, nodes.members(), place);
    if (nodes.count() == 1) co_return;
    if (place == 0) co_await disseminate(env, nodes.masters(env.frames()), nodes.mine());
    TreePlace const t = place_in_node(env.frames(), nodes, env.rank());
    if (t.parent >= 0) co_await hear(env, t.parent, release);
    for (auto child = t.children.rbegin(); child != t.children.rend(); ++child) env.sent(*child, release);
}

constexpr Parameter mpich_hierarchical_parameters[] = {hierarchy_parameter};
extern constinit const Algorithm<BarrierArgs> mpich_hierarchical_algorithm = {
    "mpich_hierarchical",
    "a barrier in each node, one among masters, a release in each node",
    Family::mpich,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.4",
    requires_nothing,
    mpich_hierarchical_parameters,
    TUTTI_RUNS(mpich_hierarchical)};

}   // namespace tutti::coll::algorithms::barrier
