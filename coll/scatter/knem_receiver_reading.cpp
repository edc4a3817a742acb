// SPDX-License-Identifier: BSD-3-Clause
// Scatter(v): the root shows where each leaf's part lies, the leaves copy theirs from there, all at the same time, and
// say so; then the root returns. Small parts are sent by the root as messages.
// Two steps. Bytes: n per part, copied by the leaf's core.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B.
#include "coll/algorithm.hpp"
#include "coll/exchange.hpp"
#include "coll/knem.hpp"
#include "coll/linear.hpp"

namespace tutti::coll::algorithms::scatter {

template <class Env>
Task knem_receiver_reading(Env& env, RootedArgs const& a) {
    if (a.equal && a.largest < a.parameters[0]) {
        co_await linear_scatter(env, a);
        co_return;
    }
    bool const root = env.rank() == a.root;
    Sides const sides{.pattern = Pattern::from_root,
                      .root = a.root,
                      .out = a.parts,
                      .in = Parts::same(a.mine.address, a.mine.count, *a.mine.type)};
    Exchange<Env> x(env, sides, knem_limits(a));
    x.post();
    if (root && !a.in_place_at_root) x.take_own(a.parts[a.root]);
    if (!root) {
        co_await env.until(a.root);
        x.take(a.root);
    }
    if (x.unfinished()) co_await x.finish();
    x.check();
}

constinit const Algorithm<RootedArgs> knem_receiver_reading_algorithm = {
    "knem_receiver_reading", "the leaves copy their parts from the root's memory at the same time", Family::knem_coll,
    "KNEM-Coll, section V.B", needs_nothing, knem_movement_parameters, TUTTI_RUNS(knem_receiver_reading)};

}  // namespace tutti::coll::algorithms::scatter
