// SPDX-License-Identifier: BSD-3-Clause
// Allreduce on a ring: a reduce_scatter in which each slice goes round as a message and every rank adds its operand,
// then an allgather in which the results go round.
// 2 (p − 1) steps; 7 (p − 1)·s bytes loaded and stored by all ranks together where messages take one copy.
// Patarasuk and Yuan, JPDC 2009. The volume: YHCCL (Peng et al., SC 2023), table 2. The first half: ring_reduction.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/ring_reduction.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task ring(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    RingReduction<Env, ReduceArgs> reduction(env, a, Receives::all);
    co_await reduction.run();
    Slices const& slices = reduction.slices();
    Messages<Env>& messages = reduction.messages();
    for (int j = 0; j + 1 < env.size(); ++j) {
        int const going = reduction.slice(j), coming = reduction.slice(j + 1);
        co_await messages.exchange(reduction.right(), {result(a), slices.position(going, 0), slices.bytes(going, 0)},
                                   reduction.left(), slices.bytes(coming, 0),
                                   messages.into(result(a), slices.position(coming, 0)));
    }
    co_await messages.close();
}

extern constinit const Algorithm<ReduceArgs> ring_algorithm = {
    "ring",
    "slices go round all ranks as messages, first to be reduced, then to be gathered",
    Family::baseline,
    "ring (Patarasuk and Yuan, JPDC 2009)",
    requires_commuting_operator | requires_grouping,
    {},
    TUTTI_RUNS_ANYWHERE(ring)};

}   // namespace tutti::coll::algorithms::allreduce
