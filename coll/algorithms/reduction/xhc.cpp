// SPDX-License-Identifier: BSD-3-Clause
// XHC's reductions (Katevenis, Ploumidis, Marazakis, sections IV.B with Fig. 6 and IV.C). The records state the bytes.
//   allreduce  members share the work, leaders monitor progress; an internal root; broadcasts overlap. 3 L + s/chunk.
//   reduce     towards a root that leads all its teams (section IV.B, steps 1 to 2b; the paper has no reduce, the
//              memory for other leaders' results is ours). 2 L + s/chunk. Both are numbers of steps.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/leader_reduction.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task xhc(Env& env, ReduceArgs const& a) {
    LeaderReduction<Env> reduction(env, a, -1);
    co_await reduction.run();
}

constexpr RecordHead xhc_head = {
    "xhc",
    "team members reduce ranges of chunks into their leader's result, and all ranks pull it",
    Family::xhc,
    "Katevenis, Ploumidis, Marazakis: XHC, section IV.B",
    requires_commutative_or_consecutive | requires_loadable_buffers,
    leader_reduction_parameters,
};
extern constinit const Algorithm<ReduceArgs> xhc_algorithm = {
    xhc_head,
    TUTTI_SHM_ONLY(xhc),
    {"(cico < s ? 3*p - 1 + (1 < m ? 2*(m - a) : 0) : 5*p + 1 + (1 < m ? 4*m - 2 - 2*a : 0))*s"}};

}   // namespace tutti::coll::algorithms::allreduce

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task xhc(Env& env, ReduceArgs const& a) {
    LeaderReduction<Env> reduction(env, a, a.root);
    co_await reduction.run();
}

extern constinit const Algorithm<ReduceArgs> xhc_algorithm = {
    allreduce::xhc_head
        .described_as("team members reduce ranges of chunks into their leader's memory, level after level")
        .from("after Katevenis, Ploumidis, Marazakis: XHC, section IV.B"),
    TUTTI_SHM_ONLY(xhc),
    {"((cico < s ? p + 1 : 3*p + 3) + (1 < m ? 2*(m - a) : 0))*s"}};

}   // namespace tutti::coll::algorithms::reduce
