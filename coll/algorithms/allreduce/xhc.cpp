// SPDX-License-Identifier: BSD-3-Clause
// Allreduce of XHC: a reduction up to an internal root, in which members share the work and leaders only watch and pass
// on, and the broadcast overlapping with it. 3 L + s/chunk steps. With t teams on all levels together (p + t − 1)·s
// bytes loaded and t·s stored on the way up, (p − 1)·s copied on the way down; where operands are copied in first, p·s
// more of each, and the results of all leaders but the root again.
// XHC (Katevenis, Ploumidis, Marazakis), section IV.B and C.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/trees/leader_reduction.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task xhc(Env& env, ReduceArgs const& a) {
    LeaderReduction<Env> reduction(env, a, -1);
    co_await reduction.run();
}

extern constinit const Algorithm<ReduceArgs> xhc_algorithm = {
    "xhc",
    "members of teams reduce ranges of chunks into their leader's result, all pull what is final",
    Family::xhc,
    "Katevenis, Ploumidis, Marazakis: XHC, section IV.B",
    requires_commutative,
    leader_reduction_parameters,
    TUTTI_RUNS(xhc)};

}   // namespace tutti::coll::algorithms::allreduce
