// SPDX-License-Identifier: BSD-3-Clause
// Broadcast of small messages: the root writes its slot and returns, everybody else reads it. One step; s bytes
// written, (p − 1)·s read. The slots are several operations deep, so the root does not wait for its readers.
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task slots(Env& env, BcastArgs const& a) {
    std::size_t const bytes = a.data.bytes();
    if (env.rank() == a.root) {
        env.load(env.slot(bytes), a.data, 0, bytes);
        env.publish();
        env.leave(bytes);
    } else {
        co_await env.until(a.root);
        env.store(a.data, 0, env.slot(a.root, bytes), bytes);
    }
}

extern constinit const Algorithm<BcastArgs> slots_algorithm = {
    "slots", "everybody reads the root's slot", Family::tutti, "Tutti", requires_slot, {}, TUTTI_RUNS(slots)};

}   // namespace tutti::coll::algorithms::bcast
