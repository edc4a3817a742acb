// SPDX-License-Identifier: BSD-3-Clause
// Scatter(v): the root shows where each leaf's part lies, the leaves copy theirs from there, all at the same time, and
// say so; then the root returns. Small parts are sent by the root as messages.
// Two steps. Bytes: n per part, copied by the leaf's core.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/exchange.hpp"
#include "coll/blocks/exchange/knem.hpp"
#include "coll/blocks/exchange/receiver_reading.hpp"
#include "coll/blocks/messages/linear.hpp"

namespace tutti::coll::algorithms::scatter {

template <class Env>
Task knem_receiver_reading(Env& env, RootedArgs const& a) {
    if (a.equal && a.largest < a.parameters[0]) return linear_scatter(env, a);
    return scatter_by_reading(env, a, knem_limits(a), false, 0);
}

extern constinit const Algorithm<RootedArgs> knem_receiver_reading_algorithm = {
    "knem_receiver_reading",
    "the leaves copy their parts from the root's memory at the same time",
    Family::knem_coll,
    "KNEM-Coll, section V.B",
    requires_nothing,
    knem_movement_parameters,
    TUTTI_RUNS(knem_receiver_reading)};

}   // namespace tutti::coll::algorithms::scatter
