// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block) on a ring: each slice goes from rank to rank as a message, every rank adds its operand, and
// the last is the one whose share it is.
// p − 1 steps; 5 (p − 1)·s bytes loaded and stored by all ranks together where messages take one copy. The volume:
// YHCCL (Peng et al., SC 2023), table 1. Steps and buffers: ring_reduction.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/ring_reduction.hpp"

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task ring(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    RingReduction<Env, ReduceScatterArgs> reduction(env, a, Receives::own);
    co_await reduction.run();
    co_await reduction.messages().close();
}

extern constinit const Algorithm<ReduceScatterArgs> ring_algorithm = {
    "ring",
    "each slice goes round all ranks as a message, and each adds its operand",
    Family::baseline,
    "ring (Patarasuk and Yuan, JPDC 2009)",
    requires_commuting_operator | requires_grouping,
    {},
    TUTTI_RUNS_ANYWHERE(ring)};

}   // namespace tutti::coll::algorithms::reduce_scatter
