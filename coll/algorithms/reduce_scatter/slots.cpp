// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block) of small vectors: every rank writes its whole vector into its slot and reduces its share of
// all slots in rank order. One step; s bytes written by each rank, p·s/p = s read.
#include <numeric>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/fold_slots.hpp"

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task slots(Env& env, ReduceScatterArgs const& a) {
    env.load(env.slot(a.bytes()), operand(a), 0, a.bytes());
    env.publish();
    for (int i = 1, peer = env.rank(); i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
    }
    auto const mine = a.counts.begin() + env.rank();
    fold_slots(env, a, 0, env.size() - 1, std::accumulate(a.counts.begin(), mine, std::int64_t{0}), *mine);
}

extern constinit const Algorithm<ReduceScatterArgs> slots_algorithm = {
    "slots",          "every rank reduces its share of everybody's slot", Family::tutti, "Tutti", requires_slot, {},
    TUTTI_RUNS(slots)};

}   // namespace tutti::coll::algorithms::reduce_scatter
