// SPDX-License-Identifier: BSD-3-Clause
// Reductions in blocks, in one team (blocks) or over the levels of the hierarchy (hierarchical), for allreduce and
// reduce. The argument why buffers are reused safely is in coll/blocks/tree_reduction.hpp.
//
// allreduce/blocks: one team of all ranks in their order. Every rank stages a block and reduces a share of it in one
// pass over all operands. Operators need not commute. Two steps per block; each byte is staged once and read once.
// DPML (Bayatpour et al., SC 2017), with the copies and the reduction in blocks of the cache's size.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/tree_reduction.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task blocks(Env& env, ReduceArgs const& a) {
    return reduce_in_blocks(env, a, -1);
}

constexpr RecordHead blocks_head = {
    "blocks",         "one team reduces by index range, block after block",
    Family::tutti,    "DPML, in blocks of the cache's size",
    requires_nothing, reduction_in_blocks_parameters,
};
extern constinit const Algorithm<ReduceArgs> blocks_algorithm = {blocks_head, TUTTI_SHM_ONLY(blocks), {"(5*p + 1)*s"}};

// allreduce/hierarchical: any number of levels. The members of each team share the work by index range on the way up;
// leaders forward the result while the next block moves up. 2 L steps per block; each byte is staged once and read once
// per level, its result once more per rank on the way down.
// XHC (Katevenis, Ploumidis, Marazakis), section IV.B.

template <class Env>
Task hierarchical(Env& env, ReduceArgs const& a) {
    TreeReduction<Env> reduction(env, env.hierarchy(), a, -1, 0, a.parameters[1]);
    co_await reduction.run();
}

constexpr RecordHead hierarchical_head = {
    "hierarchical",
    "teams reduce by index range, level after level, and pass the result down",
    Family::tutti,
    "after XHC, section IV.B",
    requires_commutative_or_consecutive,
    tree_reduction_parameters,
};
extern constinit const Algorithm<ReduceArgs> hierarchical_algorithm = {
    hierarchical_head, TUTTI_SHM_ONLY(hierarchical), {"(5*p + 1 + (1 < m ? 4*m - 2 : 0))*s"}};

}   // namespace tutti::coll::algorithms::allreduce

// reduce/blocks: like allreduce/blocks, with the result at the root only. One step per block; each byte is staged once
// and read once.
// DPML (Bayatpour et al., SC 2017), with the copies and the reduction in blocks of the cache's size.

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task blocks(Env& env, ReduceArgs const& a) {
    return reduce_in_blocks(env, a, a.root);
}

extern constinit const Algorithm<ReduceArgs> blocks_algorithm = {
    allreduce::blocks_head, TUTTI_SHM_ONLY(blocks), {"(3*p + 3)*s"}};

// reduce/hierarchical: any number of levels. The members of each team share the work by index range; the root leads
// every team of which it is a member. L steps per block; each byte is staged once and read once per level.
// XHC (Katevenis, Ploumidis, Marazakis), section IV.B without its broadcast.

template <class Env>
Task hierarchical(Env& env, ReduceArgs const& a) {
    TreeReduction<Env> reduction(env, env.hierarchy(), a, a.root, 0, a.parameters[1]);
    co_await reduction.run();
}

extern constinit const Algorithm<ReduceArgs> hierarchical_algorithm = {
    allreduce::hierarchical_head.described_as("teams reduce by index range, level after level"),
    TUTTI_SHM_ONLY(hierarchical),
    {"(3*p + 3 + (1 < m ? 2*m : 0))*s"}};

}   // namespace tutti::coll::algorithms::reduce
