// SPDX-License-Identifier: BSD-3-Clause
// Allreduce RG: a pipelined tree in which each parent combines its k children's slices, then everybody copies the
// result out of the topmost parent's memory. log(p)/log(k + 1) steps up and as many down per slice; bytes loaded and
// stored, with p a power of k + 1: s·p·(5k/(k + 1) + 3k/(k + 1)² + … + 3k/p + 2).
// Jain, Kaleem and others, SC 2018; the steps and the volume as in YHCCL, sections 2.2 and 3.4 (Table 2).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/trees/gather_tree.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task rg(Env& env, ReduceArgs const& a) {
    GatherTree<Env> tree(env, a, -1);
    co_await tree.run();
}

extern constinit const Algorithm<ReduceArgs> rg_algorithm = {
    "rg",
    "a pipelined tree of parents that each combine k children's slices, whose top all copy from",
    Family::baseline,
    "Jain et al., SC 2018, as RG in YHCCL, section 3.4",
    requires_commutative,
    gather_tree_parameters,
    TUTTI_RUNS(rg)};

}   // namespace tutti::coll::algorithms::allreduce
