// SPDX-License-Identifier: BSD-3-Clause
// Scatter(v): the root says where each leaf's part lies, every leaf gets its own. Small parts travel together in the
// root's slot, and the root returns at once; large ones in one piece are read by the leaves from the root's memory, all
// at the same time; where both sides lie in arenas a root in place writes 1/p of each part itself. Two steps. Bytes: 2n
// per small part, n per large one.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B, receiver-reading.
#include "coll/blocks/exchange/receiver_reading.hpp"
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::scatter {

template <class Env>
Task receiver_reading(Env& env, RootedArgs const& a) {
    return scatter_by_reading(env, a, Limits::of(a), true, a.parameters[3]);
}

extern constinit const Algorithm<RootedArgs> receiver_reading_algorithm = {
    "receiver_reading",
    "small parts in the root's slot, large ones read by the leaves",
    Family::tutti,
    "after KNEM-Coll, section V.B",
    requires_nothing,
    shared_movement_parameters,
    TUTTI_RUNS(receiver_reading)};

}   // namespace tutti::coll::algorithms::scatter
