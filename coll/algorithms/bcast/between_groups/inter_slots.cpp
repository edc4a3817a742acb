// SPDX-License-Identifier: BSD-3-Clause
// Broadcast of small messages from one group to the other: the root writes its slot and returns, the others read it.
// The root's own group has nothing to do. One step; s bytes written, s read by each of the other group.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/two_groups.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task inter_slots(Env& env, BcastArgs const& a) {
    std::size_t const bytes = a.data.bytes();
    if (env.rank() == a.root) {
        env.load(env.slot(bytes), a.data, 0, bytes);
        env.publish();
        env.leave(bytes);
    } else if (TwoGroups(env, a).other.has(a.root)) {
        co_await env.until(a.root);
        env.store(a.data, 0, env.slot(a.root, bytes), bytes);
    }
}

extern constinit const Algorithm<BcastArgs> inter_slots_algorithm = {"inter_slots",
                                                                     "the other group reads the root's slot",
                                                                     Family::tutti,
                                                                     "Tutti",
                                                                     requires_slot | requires_two_groups,
                                                                     {},
                                                                     TUTTI_RUNS(inter_slots)};

}   // namespace tutti::coll::algorithms::bcast
