// SPDX-License-Identifier: BSD-3-Clause
// Barrier over any number of levels: members report to their leader, leaders to theirs; the release comes back down the
// same way, one flag per team that all members read. 2 L steps, 2 (p − 1) flags read across ranks.
// XHC (Katevenis, Ploumidis, Marazakis), section IV, with the acknowledgement alone.
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::barrier {

template <class Env>
Task hierarchical(Env& env, BarrierArgs const&) {
    topo::Hierarchy const& tree = env.hierarchy();
    int const mine = tree.levels_of(env.rank());
    int level = 0;
    for (; level < mine; ++level) {
        topo::Team const team = tree.team(level, env.rank());
        if (!team.i_lead) break;
        for (int member : team.members)
            if (member != env.rank()) co_await env.until_ack(member, level, 1);
    }
    if (level < tree.levels()) {   // not the topmost leader: report, then wait for the team's release
        env.ack(level, 1);
        int const leader = tree.team(level, env.rank()).leader;
        co_await env.until(leader, 1);
    }
    env.publish(1);
}

constexpr Parameter hierarchical_parameters[] = {hierarchy_parameter};
extern constinit const Algorithm<BarrierArgs> hierarchical_algorithm = {
    "hierarchical",          "gather and release over the levels of the hierarchy",
    Family::tutti,           "after XHC, section IV",
    requires_nothing,        hierarchical_parameters,
    TUTTI_RUNS(hierarchical)};

}   // namespace tutti::coll::algorithms::barrier
