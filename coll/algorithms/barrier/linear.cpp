// SPDX-License-Identifier: BSD-3-Clause
// Barrier at one place: everybody reports to rank 0, which then releases everybody with one flag that all read.
// Two steps; rank 0 reads p − 1 flags, each other rank one.
// The central barrier of Mellor-Crummey, Scott, ACM Trans. on Computer Systems 9 (1991), section 3.1, with a flag per
// rank in place of the counter.
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::barrier {

template <class Env>
Task linear(Env& env, BarrierArgs const&) {
    if (env.rank() != 0) {
        env.ack(0, 1);
        co_await env.until(0);
        env.count_message(0);
        co_return;
    }
    for (int peer = 1; peer < env.size(); ++peer) {
        co_await env.until_ack(peer, 0, 1);
        env.count_message(peer);
    }
    env.publish();
}

extern constinit const Algorithm<BarrierArgs> linear_algorithm = {
    "linear",          "everybody reports to rank 0, which releases everybody",
    Family::baseline,  "after Mellor-Crummey, Scott, ACM Trans. on Computer Systems 9 (1991), section 3.1",
    requires_nothing,  {},
    TUTTI_RUNS(linear)};

}   // namespace tutti::coll::algorithms::barrier
