// SPDX-License-Identifier: BSD-3-Clause
// Gather and scatter in which the receivers read. Tutti's own algorithms and KNEM-Coll's differ in their limits, in the
// treatment of small equal parts, and in whether the root of a scatter copies a share.
#pragma once

#include "coll/blocks/exchange.hpp"

namespace tutti::coll {

/// The root receives the parts one after the other, beginning with the rank after it.
template <class Env>
Task gather_by_reading(Env& env, RootedArgs const& a, Limits limits) {
    bool const root = env.rank() == a.root;
    ExchangeSpec const spec{.pattern = Pattern::to_root,
                            .root = a.root,
                            .out = Parts::same(a.mine.address, a.mine.count, *a.mine.type),
                            .in = a.parts};
    Exchange<Env> x(env, spec, limits);
    x.post();
    if (root && !a.in_place_at_root) x.copy_own(a.mine);
    for (int i = 1; root && i < env.size(); ++i) {
        int const peer = (a.root + i) % env.size();
        co_await env.until(peer);
        x.receive(peer);
    }
    if (x.unfinished()) co_await x.finish();
    x.check();
}

/// Each rank other than the root receives its part. `packed`: small parts of one size need no table; `share`: bytes
/// from which a root in place copies a share of each part, 0: never.
template <class Env>
Task scatter_by_reading(Env& env, RootedArgs const& a, Limits limits, bool packed, std::size_t share) {
    bool const root = env.rank() == a.root;
    ExchangeSpec const spec{.pattern = Pattern::from_root,
                            .root = a.root,
                            .out = a.parts,
                            .in = Parts::same(a.mine.address, a.mine.count, *a.mine.type),
                            .equal_parts = packed && a.equal_parts,
                            .min_shared_part = share,
                            .root_copies = share > 0 && a.in_place_at_root};
    Exchange<Env> x(env, spec, limits);
    x.post();
    if (root && !a.in_place_at_root) x.copy_own(a.parts[a.root]);
    if (!root) {
        co_await env.until(a.root);
        x.receive(a.root);
    }
    if (x.unfinished()) co_await x.finish();
    x.check();
}

}   // namespace tutti::coll
