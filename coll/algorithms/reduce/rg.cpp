// SPDX-License-Identifier: BSD-3-Clause
// Reduce RG: a pipelined tree in which each parent combines its k children's slices. log(p)/log(k + 1) steps per slice;
// bytes loaded and stored, with p a power of k + 1: s·p·(5k/(k + 1) + 3k/(k + 1)² + … + 3k/p), 2 s more where the root
// is not rank 0, who is the top of the tree; children that have no children copy their operand in.
// Jain, Kaleem and others, SC 2018; the steps and the volume as in YHCCL, sections 2.2 and 3.5 (Table 3).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/trees/gather_tree.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task rg(Env& env, ReduceArgs const& a) {
    GatherTree<Env> tree(env, a, a.root);
    co_await tree.run();
}

extern constinit const Algorithm<ReduceArgs> rg_algorithm = {
    "rg",
    "a pipelined tree of parents that each combine k children's slices",
    Family::baseline,
    "Jain et al., SC 2018, as RG in YHCCL, section 3.5",
    requires_commutative,
    gather_tree_parameters,
    TUTTI_RUNS(rg)};

}   // namespace tutti::coll::algorithms::reduce
