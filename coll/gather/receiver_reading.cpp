// SPDX-License-Identifier: BSD-3-Clause
// Gather(v): every leaf says where its part lies, the root gets them one after the other. A small part travels in the
// leaf's slot, and the leaf returns at once; a large one in one piece is read by the root from the leaf's memory.
// One step for the leaves, p − 1 for the root. Bytes: 2n per small part, n per large one, all copied by the root.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B, receiver-reading.
#include "coll/algorithm.hpp"
#include "coll/exchange.hpp"

namespace tutti::coll::algorithms::gather {

template <class Env>
Task receiver_reading(Env& env, RootedArgs const& a) {
    bool const root = env.rank() == a.root;
    Sides const sides{.pattern = Pattern::to_root,
                      .root = a.root,
                      .out = Parts::same(a.mine.address, a.mine.count, *a.mine.type),
                      .in = a.parts};
    Exchange<Env> x(env, sides, Limits::of(a));
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

constinit const Algorithm<RootedArgs> receiver_reading_algorithm = {
    "receiver_reading", "small parts in the leaves' slots, large ones read by the root", Family::tutti,
    "after KNEM-Coll, section V.B", needs_nothing, movement_parameters, TUTTI_RUNS(receiver_reading)};

}  // namespace tutti::coll::algorithms::gather
