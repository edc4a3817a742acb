// SPDX-License-Identifier: BSD-3-Clause
// Barrier: every rank publishes its flag and waits for everybody else's. One step, p flags written, p(p − 1) read.
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::barrier {

template <class Env>
Task exchange(Env& env, BarrierArgs const&) {
    env.publish();
    for (int i = 1, peer = env.rank(); i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
    }
}

extern constinit const Algorithm<BarrierArgs> exchange_algorithm = {
    "exchange",          "every rank sees every other rank's flag", Family::tutti, "Tutti", requires_nothing, {},
    TUTTI_RUNS(exchange)};

}   // namespace tutti::coll::algorithms::barrier
