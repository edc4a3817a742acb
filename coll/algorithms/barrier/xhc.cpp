// SPDX-License-Identifier: BSD-3-Clause
// Barrier of XHC: the hierarchical acknowledgement of its broadcast on the way up, its leaders' flags on the way down.
// 2 L steps; 2 (p − 1) words read from other ranks, p − 1 written on the way up and as many as the layout of the
// flags asks for on the way down.
// XHC (Katevenis, Ploumidis, Marazakis): section IV.A's synchronization without its data; the paper has no barrier.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/trees/leader_flag.hpp"

namespace tutti::coll::algorithms::barrier {

template <class Env>
Task xhc(Env& env, BarrierArgs const& a) {
    LeaderFlag<Env> flag(env, env.hierarchy(), -1, static_cast<FlagLayout>(a.parameters[1]));
    for (int child : flag.children()) co_await env.until_taken(child, 1);
    if (flag.parent() >= 0) {
        env.taken(flag.parent(), 1);
        co_await flag.until(1);
    }
    flag.announce(1);
}

constexpr Parameter xhc_parameters[] = {hierarchy_parameter, flags_parameter};
extern constinit const Algorithm<BarrierArgs> xhc_algorithm = {
    "xhc",
    "acknowledgements up the levels, leaders' flags down",
    Family::xhc,
    "after Katevenis, Ploumidis, Marazakis: XHC, section IV.A",
    requires_nothing,
    xhc_parameters,
    TUTTI_RUNS(xhc)};

}   // namespace tutti::coll::algorithms::barrier
