// SPDX-License-Identifier: BSD-3-Clause
// Parts between all pairs of ranks of two groups, for allgather and alltoall on intercommunicators: as in rotated.hpp,
// but within a group nothing moves, and nobody waits for anybody.
#pragma once

#include "coll/blocks/exchange/exchange.hpp"
#include "coll/blocks/groups/two_groups.hpp"

namespace tutti::coll {

/// Every rank lays out or shows its parts, then takes those for it, each beginning with another rank.
template <class Env>
Task exchange_between_groups(Env& env, CommonArgs const& a, Parts out, Parts in) {
    TwoGroups const groups(env, a);
    Sides const sides{.pattern = Pattern::all, .root = 0, .out = out, .in = in};
    Exchange<Env> x(env, sides, Limits::of(a));
    x.post();
    for (int i = 0; i < groups.other.size(); ++i) {
        int const peer = groups.nth_other(i);
        co_await env.until(peer);
        x.take(peer);
    }
    if (x.unfinished()) co_await x.finish();
    x.check();
}

}   // namespace tutti::coll
