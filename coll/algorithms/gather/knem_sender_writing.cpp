// SPDX-License-Identifier: BSD-3-Clause
// Gather(v): the root shows once where the parts belong, the leaves write theirs there, all at the same time, and say
// so. Small parts are sent to the root as messages.
// Two steps. Bytes: n per part, copied by the leaf's core.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/knem.hpp"
#include "coll/blocks/exchange/sender_writing.hpp"
#include "coll/blocks/messages/linear.hpp"

namespace tutti::coll::algorithms::gather {

template <class Env>
Task knem_sender_writing(Env& env, RootedArgs const& a) {
    if (a.equal && a.largest < a.parameters[0]) {
        co_await linear_gather(env, a);
        co_return;
    }
    bool const own = env.rank() == a.root && !a.in_place_at_root;
    Sides const sides{.pattern = Pattern::to_root,
                      .root = a.root,
                      .out = Parts::same(a.mine.address, a.mine.count, *a.mine.type),
                      .in = a.parts};
    Writing<Env> w(env, sides, a.parameters[0], a.parameters[1]);
    co_await w.run(own ? &a.mine : nullptr);
    w.check();
}

extern constinit const Algorithm<RootedArgs> knem_sender_writing_algorithm = {
    "knem_sender_writing",
    "the leaves write their parts into the root's memory at the same time",
    Family::knem_coll,
    "KNEM-Coll, section V.B",
    requires_nothing,
    knem_movement_parameters,
    TUTTI_RUNS(knem_sender_writing)};

}   // namespace tutti::coll::algorithms::gather
