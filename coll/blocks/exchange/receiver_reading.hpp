// SPDX-License-Identifier: BSD-3-Clause
// Gather and scatter whose receivers read: ours and KNEM-Coll's differ in their limits, in what becomes of small equal
// parts, and in whether a scatter's root helps.
#pragma once

#include "coll/blocks/exchange/exchange.hpp"

namespace tutti::coll {

/// The root takes the leaves' parts one after the other, from the rank behind it on.
template <class Env>
Task gather_by_reading(Env& env, RootedArgs const& a, Limits limits) {
    bool const root = env.rank() == a.root;
    Sides const sides{.pattern = Pattern::to_root,
                      .root = a.root,
                      .out = Parts::same(a.mine.address, a.mine.count, *a.mine.type),
                      .in = a.parts};
    Exchange<Env> x(env, sides, limits);
    x.post();
    if (root && !a.in_place_at_root) x.take_own(a.mine);
    for (int i = 1; root && i < env.size(); ++i) {
        int const peer = (a.root + i) % env.size();
        co_await env.until(peer);
        x.take(peer);
    }
    if (x.unfinished()) co_await x.finish();
    x.check();
}

/// Every leaf takes its part. `packed`: small parts of one size need no table; `share`: bytes from which a root in
/// place copies a share of each part, 0: it never does.
template <class Env>
Task scatter_by_reading(Env& env, RootedArgs const& a, Limits limits, bool packed, std::size_t share) {
    bool const root = env.rank() == a.root;
    Sides const sides{.pattern = Pattern::from_root,
                      .root = a.root,
                      .out = a.parts,
                      .in = Parts::same(a.mine.address, a.mine.count, *a.mine.type),
                      .equal = packed && a.equal,
                      .share = share,
                      .helps = share > 0 && a.in_place_at_root};
    Exchange<Env> x(env, sides, limits);
    x.post();
    if (root && !a.in_place_at_root) x.take_own(a.parts[a.root]);
    if (!root) {
        co_await env.until(a.root);
        x.take(a.root);
    }
    if (x.unfinished()) co_await x.finish();
    x.check();
}

}   // namespace tutti::coll
