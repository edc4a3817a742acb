// SPDX-License-Identifier: BSD-3-Clause
// Gather(v) in the direction that the paper warns of: the leaves show their parts, and the root's core alone copies
// them all. It is there to compare with sender-writing.
// p − 1 steps. Bytes: n per part, copied by the root's core.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section III.A (receivers copying in all-to-one).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/exchange.hpp"
#include "coll/blocks/exchange/knem.hpp"
#include "coll/blocks/exchange/receiver_reading.hpp"
#include "coll/blocks/messages/linear.hpp"

namespace tutti::coll::algorithms::gather {

template <class Env>
Task knem_receiver_reading(Env& env, RootedArgs const& a) {
    if (a.equal && a.largest < a.parameters[0]) return linear_gather(env, a);
    return gather_by_reading(env, a, knem_limits(a));
}

extern constinit const Algorithm<RootedArgs> knem_receiver_reading_algorithm = {
    "knem_receiver_reading",
    "the root copies all parts from the leaves' memory",
    Family::knem_coll,
    "KNEM-Coll, section III.A",
    requires_nothing,
    knem_movement_parameters,
    TUTTI_RUNS(knem_receiver_reading)};

}   // namespace tutti::coll::algorithms::gather
