// SPDX-License-Identifier: BSD-3-Clause
// Allreduce of small messages in one exchange: write your slot, read everybody's in rank order, so that the result has
// the same bits everywhere. One step; s bytes written, p·s read and reduced by each rank.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/fold_slots.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task exchange(Env& env, ReduceArgs const& a) {
    env.load(env.slot(a.bytes()), operand(a), 0, a.bytes());
    env.publish();
    for (int i = 1, peer = env.rank(); i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
    }
    fold_slots(env, a, env.size() - 1);
}

extern constinit const Algorithm<ReduceArgs> exchange_algorithm = {
    "exchange", "every rank reduces everybody's slot", Family::tutti, "Tutti", requires_slot, {}, TUTTI_RUNS(exchange)};

}   // namespace tutti::coll::algorithms::allreduce
