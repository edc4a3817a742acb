// SPDX-License-Identifier: BSD-3-Clause
// Exscan of small messages: every rank writes its slot and reduces the slots of the ranks below its own, in their
// order; rank 0 gets nothing. One step; s bytes written by each rank, r·s read by rank r.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/fold_slots.hpp"

namespace tutti::coll::algorithms::exscan {

template <class Env>
Task slots(Env& env, ReduceArgs const& a) {
    env.load(env.slot(a.bytes()), operand(a), 0, a.bytes());
    env.publish();
    for (int peer = 0; peer < env.rank(); ++peer) co_await env.until(peer);
    if (env.rank() > 0) fold_slots(env, a, env.rank() - 1);
}

extern constinit const Algorithm<ReduceArgs> slots_algorithm = {
    "slots",          "every rank reduces the slots of the ranks below its own",
    Family::tutti,    "Tutti",
    requires_slot,    {},
    TUTTI_RUNS(slots)};

}   // namespace tutti::coll::algorithms::exscan
