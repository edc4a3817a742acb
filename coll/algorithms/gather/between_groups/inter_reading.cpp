// SPDX-License-Identifier: BSD-3-Clause
// Gather(v) by a root in the other group: every leaf says where its part lies, the root gets them one after the other.
// The root's own group has nothing to do. Bytes: 2n per small part, n per large one, all copied by the root.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B, receiver-reading.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/exchange.hpp"
#include "coll/blocks/groups/two_groups.hpp"

namespace tutti::coll::algorithms::gather {

template <class Env>
Task inter_reading(Env& env, RootedArgs const& a) {
    TwoGroups const groups(env, a);
    bool const root = env.rank() == a.root;
    if (!root && !groups.other.has(a.root)) co_return;
    Sides const sides{.pattern = Pattern::to_root,
                      .root = a.root,
                      .out = Parts::same(a.mine.address, a.mine.count, *a.mine.type),
                      .in = a.parts};
    Exchange<Env> x(env, sides, Limits::of(a));
    x.post();
    for (int peer = groups.other.first; root && peer < groups.other.last; ++peer) {
        co_await env.until(peer);
        x.take(peer);
    }
    if (x.unfinished()) co_await x.finish();
    x.check();
}

extern constinit const Algorithm<RootedArgs> inter_reading_algorithm = {
    "inter_reading",
    "small parts in slots, large ones read by the root in the other group",
    Family::tutti,
    "after KNEM-Coll, section V.B",
    requires_two_groups,
    movement_parameters,
    TUTTI_RUNS(inter_reading)};

}   // namespace tutti::coll::algorithms::gather
