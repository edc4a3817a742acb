// SPDX-License-Identifier: BSD-3-Clause
// Reduce of XHC: the reduction of its allreduce, towards a root that leads all its teams. 2 L + s/chunk steps. With t
// teams on all levels together (p + t − 1)·s bytes loaded and t·s stored; where operands are copied in first, p·s more
// of each.
// XHC (Katevenis, Ploumidis, Marazakis), section IV.B, steps 1 to 2b; the paper has no reduce: where the leaders that
// are not the root have their results is ours.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/trees/leader_reduction.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task xhc(Env& env, ReduceArgs const& a) {
    LeaderReduction<Env> reduction(env, a, a.root);
    co_await reduction.run();
}

extern constinit const Algorithm<ReduceArgs> xhc_algorithm = {
    "xhc",
    "members of teams reduce ranges of chunks into their leader's memory, level after level",
    Family::xhc,
    "after Katevenis, Ploumidis, Marazakis: XHC, section IV.B",
    requires_commutative,
    leader_reduction_parameters,
    TUTTI_RUNS(xhc)};

}   // namespace tutti::coll::algorithms::reduce
