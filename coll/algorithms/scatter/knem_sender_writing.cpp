// SPDX-License-Identifier: BSD-3-Clause
// Scatter(v) in the direction that the paper warns of: the leaves show where their parts belong, and the root's core
// alone writes them all. It is there to compare with receiver-reading.
// p − 1 steps. Bytes: n per part, copied by the root's core.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section III.A (the serialized one-to-all pattern).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/knem.hpp"
#include "coll/blocks/exchange/sender_writing.hpp"
#include "coll/blocks/messages/linear.hpp"

namespace tutti::coll::algorithms::scatter {

template <class Env>
Task knem_sender_writing(Env& env, RootedArgs const& a) {
    if (a.equal && a.largest < a.parameters[0]) {
        co_await linear_scatter(env, a);
        co_return;
    }
    bool const own = env.rank() == a.root && !a.in_place_at_root;
    Sides const sides{.pattern = Pattern::from_root,
                      .root = a.root,
                      .out = a.parts,
                      .in = Parts::same(a.mine.address, a.mine.count, *a.mine.type)};
    Buffer const part = own ? a.parts[a.root] : Buffer{};
    Writing<Env> w(env, sides, a.parameters[0], a.parameters[1]);
    co_await w.run(own ? &part : nullptr);
    w.check();
}

extern constinit const Algorithm<RootedArgs> knem_sender_writing_algorithm = {
    "knem_sender_writing",
    "the root writes all parts into the leaves' memory",
    Family::knem_coll,
    "KNEM-Coll, section III.A",
    requires_nothing,
    knem_movement_parameters,
    TUTTI_RUNS(knem_sender_writing)};

}   // namespace tutti::coll::algorithms::scatter
