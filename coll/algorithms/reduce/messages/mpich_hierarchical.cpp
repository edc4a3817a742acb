// SPDX-License-Identifier: BSD-3-Clause
// Reduce with a master per node: each node along a binomial tree to its master, masters to that of the root's node (of
// the first node, if the operator does not commute), that one to the root; in segments, along a binary tree of masters,
// or whole, along a binomial one. With N nodes of c ranks ⌈log2 c⌉ + at most 2 ⌊log2 N⌋ + 1 + s/segment steps; each
// rank but the last hands on s bytes, read where they lie or staged once.
// Zhu, Goodell, Gropp, Thakur, section 3.2; the local reduction is binomial for all sizes, as in figure 1.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/reduce_to_root.hpp"
#include "coll/blocks/nodes/master_tree.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task mpich_hierarchical(Env& env, ReduceArgs const& a) {
    bool const pipelined = a.parameters[2] == 0;
    Division const nodes(env.hierarchy(), env.rank());
    int const top_node = a.op->commutative ? nodes.of(a.root) : 0;
    TreePlace place =
        place_under_master(env.frames(), nodes, env.rank(), top_node, pipelined ? binary_tree : binomial_tree);
    co_await reduce_to_root(env, a, std::move(place), nodes.master(top_node), pipelined ? a.parameters[1] : whole);
}

constexpr Parameter mpich_hierarchical_parameters[] = {
    hierarchy_parameter,
    {"segment", 5120, "bytes that are passed on at a time when pipelined"},
    {"form", 0, "in segments along a binary tree of masters, or whole along a binomial one", ParameterKind::word,
     "pipelined|whole"},
};
extern constinit const Algorithm<ReduceArgs> mpich_hierarchical_algorithm = {
    "mpich_hierarchical",
    "each node to its master, masters to a master, that one to the root, with messages",
    Family::mpich,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.2",
    requires_commutative | requires_grouping,
    mpich_hierarchical_parameters,
    TUTTI_RUNS_ANYWHERE(mpich_hierarchical)};

}   // namespace tutti::coll::algorithms::reduce
