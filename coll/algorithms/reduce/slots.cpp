// SPDX-License-Identifier: BSD-3-Clause
// Reduce of small messages: every rank writes its slot and returns, the root reduces all slots in rank order.
// One step; s bytes written per rank, p·s read by the root.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/fold_slots.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task slots(Env& env, ReduceArgs const& a) {
    env.load(env.slot(a.bytes()), operand(a), 0, a.bytes());
    env.publish();
    if (env.rank() != a.root) co_return;
    for (int peer = 0; peer < env.size(); ++peer)
        if (peer != a.root) co_await env.until(peer);
    fold_slots(env, a, env.size() - 1);
}

extern constinit const Algorithm<ReduceArgs> slots_algorithm = {
    "slots", "the root reduces everybody's slot", Family::tutti, "Tutti", requires_slot, {}, TUTTI_RUNS(slots)};

}   // namespace tutti::coll::algorithms::reduce
