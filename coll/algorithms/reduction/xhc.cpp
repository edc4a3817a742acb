// SPDX-License-Identifier: BSD-3-Clause
// XHC's reductions (Katevenis, Ploumidis, Marazakis, sections IV.B with Fig. 6 and IV.C). The records state the bytes.
//   allreduce  members share the work, leaders monitor progress; an internal root; broadcasts overlap. 3 L + s/chunk
//              steps (on each level: operands are ready, ranges are done, the result is there), and one step for the
//              acknowledgements.
//   reduce     towards a root that leads all its teams (section IV.B, steps 1 to 2b; the paper has no reduce, the
//              memory for other leaders' results is ours). 2 L + s/chunk steps; above the threshold of section IV.C one
//              more, because leaders release the operands of their members.
// Above the threshold, ranks first agree on the access to their buffers, which takes 2 L steps, and 4 L if XPMEM must
// attach one. Where XPMEM is not in use, they do so only until they know that all of them map the arenas of all others,
// and in the channel_depth operations that follow (coll/blocks/leader_reduction.hpp). The paper has no such agreement.
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
    xhc_head, TUTTI_SHM_ONLY(xhc), {"(teams(n < 2 ? 0 : n + 1) + (cico < s ? 2*(p - 1) : 4*p + 2*(m - 1)))*s"}};

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
    {"(teams(n < 2 ? 0 : n + 1) + (cico < s ? 0 : 2*p + 2))*s"}};

}   // namespace tutti::coll::algorithms::reduce
