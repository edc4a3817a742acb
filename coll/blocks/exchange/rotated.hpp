// SPDX-License-Identifier: BSD-3-Clause
// Alltoall in rotated order: ours and KNEM-Coll's differ in their limits, and in what becomes of small equal parts.
#pragma once

#include "coll/blocks/exchange/exchange.hpp"

namespace tutti::coll {

/// The order in which each rank takes its parts: from rank + 1, rank + 2, … `packed`: small parts of one size need no
/// table, and in operations that suspend whoever comes first copies.
template <class Env>
Task rotated_alltoall(Env& env, AlltoallArgs const& a, Limits limits, bool packed) {
    int const rank = env.rank();
    auto const table = 2 * sizeof(Entry) * static_cast<std::size_t>(env.size());
    bool const either = packed && env.suspends() && !a.is_in_place && env.size() <= CopyPieces::most_of_word &&
                        table <= env.slot_bytes();
    Sides const sides{.pattern = Pattern::all,
                      .root = 0,
                      .out = a.is_in_place ? a.receive : a.send,
                      .in = a.receive,
                      .equal = packed && a.equal,
                      .in_place = a.is_in_place,
                      .either = either};
    Exchange<Env> x(env, sides, limits);
    x.post();
    co_await env.later();
    if (!a.is_in_place) x.take_own(a.send[rank]);
    for (int i = 1, peer = rank; i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
        x.take(peer);
        x.give(peer);
    }
    if (x.unfinished()) co_await x.finish();
    x.check();
}

}   // namespace tutti::coll
