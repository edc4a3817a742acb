// SPDX-License-Identifier: BSD-3-Clause
// Gather(v): every leaf says where its part lies, the root gets them one after the other. A small part travels in the
// leaf's slot, and the leaf returns at once; a large one in one piece is read by the root from the leaf's memory.
// One step for the leaves, p − 1 for the root. Bytes: 2n per small part, n per large one, all copied by the root.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B, receiver-reading.
#include "coll/blocks/exchange/receiver_reading.hpp"
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::gather {

template <class Env>
Task receiver_reading(Env& env, RootedArgs const& a) {
    return gather_by_reading(env, a, Limits::of(a));
}

extern constinit const Algorithm<RootedArgs> receiver_reading_algorithm = {
    "receiver_reading",
    "small parts in the leaves' slots, large ones read by the root",
    Family::tutti,
    "after KNEM-Coll, section V.B",
    requires_nothing,
    movement_parameters,
    TUTTI_RUNS(receiver_reading)};

}   // namespace tutti::coll::algorithms::gather
