// SPDX-License-Identifier: BSD-3-Clause
// Allreduce in blocks by one team of all ranks in their order: everybody stages a block and reduces a share of it, in
// one pass over all operands. Operators need not commute. Two steps per block; each byte is staged once and read once.
// DPML (Bayatpour et al., SC 2017) with the copies and the reduction in blocks of the cache's size.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/trees/tree_reduction.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task blocks(Env& env, ReduceArgs const& a) {
    return reduce_in_blocks(env, a, -1);
}

extern constinit const Algorithm<ReduceArgs> blocks_algorithm = {
    "blocks",          "one team reduces by index range, block after block",
    Family::tutti,     "DPML, in blocks of the cache's size",
    requires_nothing,  reduction_in_blocks_parameters,
    TUTTI_RUNS(blocks)};

}   // namespace tutti::coll::algorithms::allreduce
