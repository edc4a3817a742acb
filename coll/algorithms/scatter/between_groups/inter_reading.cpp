// SPDX-License-Identifier: BSD-3-Clause
// Scatter(v) from a root in the other group: the root says where each part lies, and the ranks of the other group get
// theirs, all at the same time. The root's own group has nothing to do. One step. Bytes: 2n per small part, n per large
// one.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B, receiver-reading.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/exchange.hpp"
#include "coll/blocks/groups/two_groups.hpp"

namespace tutti::coll::algorithms::scatter {

template <class Env>
Task inter_reading(Env& env, RootedArgs const& a) {
    TwoGroups const groups(env, a);
    bool const root = env.rank() == a.root;
    if (!root && !groups.other.has(a.root)) co_return;
    Sides const sides{.pattern = Pattern::from_root,
                      .root = a.root,
                      .out = a.parts,
                      .in = Parts::same(a.mine.address, a.mine.count, *a.mine.type)};
    Exchange<Env> x(env, sides, Limits::of(a));
    x.post();
    if (!root) {
        co_await env.until(a.root);
        x.take(a.root);
    }
    if (x.unfinished()) co_await x.finish();
    x.check();
}

extern constinit const Algorithm<RootedArgs> inter_reading_algorithm = {
    "inter_reading",
    "small parts in slots, large ones read from the root in the other group",
    Family::tutti,
    "after KNEM-Coll, section V.B",
    requires_two_groups,
    movement_parameters,
    TUTTI_RUNS(inter_reading)};

}   // namespace tutti::coll::algorithms::scatter
