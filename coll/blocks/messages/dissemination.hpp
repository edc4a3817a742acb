// SPDX-License-Identifier: BSD-3-Clause
// Barrier by dissemination with messages of no bytes, which are counts of `sent`: in step k every rank tells the one
// 2^k places ahead and hears from the one 2^k places behind. ⌈log2 n⌉ steps, n messages in each.
// Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization", Int. J. of Parallel Programming 17 (1988).
#pragma once

#include <span>

#include "coll/env/env.hpp"

namespace tutti::coll {

/// A message of no bytes, the `count`-th from `peer` in this operation.
template <class Env>
Task hear(Env& env, int peer, std::uint64_t count) {
    co_await env.until_sent(peer, count);
    env.count_message(peer);
}

/// Among `ranks`, of which this one has the place `place`: no two of them may have told each other anything before.
template <class Env>
Task disseminate(Env& env, std::span<int const> ranks, int place) {
    int const n = static_cast<int>(ranks.size());
    auto at = [&](int p) { return ranks[static_cast<std::size_t>(p % n)]; };
    for (int distance = 1; distance < n; distance *= 2) {
        env.sent(at(place + distance), 1);
        co_await hear(env, at(place + n - distance), 1);
    }
}

}   // namespace tutti::coll
