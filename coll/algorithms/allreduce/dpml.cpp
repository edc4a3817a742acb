// SPDX-License-Identifier: BSD-3-Clause
// Allreduce by data partitioning and many leaders: every rank copies its whole operand into shared memory, every rank
// leads one slice and reduces it there, operand by operand. Everybody copies all slices out.
// Two steps per round of p·slice bytes; (7p − 1)·s bytes loaded and stored by all ranks together, the leaders' first
// operand being copied. Operators need not commute.
// DPML (Bayatpour et al., SC 2017), with the volume and the reduction in pieces of YHCCL's paper, sections 3 and 5.3.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/multi_leader.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task dpml(Env& env, ReduceArgs const& a) {
    return reduce_by_leaders(env, a, Receives::all);
}

extern constinit const Algorithm<ReduceArgs> dpml_algorithm = {
    "dpml",           "everybody stages its operand and leads one slice, reduced operand by operand",
    Family::baseline, "DPML (Bayatpour et al., SC 2017)",
    requires_nothing, dpml_parameters,
    TUTTI_RUNS(dpml)};

}   // namespace tutti::coll::algorithms::allreduce
