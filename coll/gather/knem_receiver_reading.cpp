// SPDX-License-Identifier: BSD-3-Clause
// Gather(v) in the direction that the paper warns of: the leaves show their parts, and the root's core alone copies
// them all. It is there to compare with sender-writing.
// p − 1 steps. Bytes: n per part, copied by the root's core.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section III.A (receivers copying in all-to-one).
#include "coll/algorithm.hpp"
#include "coll/exchange.hpp"
#include "coll/knem.hpp"
#include "coll/linear.hpp"

namespace tutti::coll::algorithms::gather {

template <class Env>
Task knem_receiver_reading(Env& env, RootedArgs const& a) {
    if (a.equal && a.largest < a.parameters[0]) {
        co_await linear_gather(env, a);
        co_return;
    }
    bool const root = env.rank() == a.root;
    Sides const sides{.pattern = Pattern::to_root,
                      .root = a.root,
                      .out = Parts::same(a.mine.address, a.mine.count, *a.mine.type),
                      .in = a.parts};
    Exchange<Env> x(env, sides, knem_limits(a));
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

constinit const Algorithm<RootedArgs> knem_receiver_reading_algorithm = {
    "knem_receiver_reading", "the root copies all parts from the leaves' memory", Family::knem_coll,
    "KNEM-Coll, section III.A", needs_nothing, knem_movement_parameters, TUTTI_RUNS(knem_receiver_reading)};

}  // namespace tutti::coll::algorithms::gather
