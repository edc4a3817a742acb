// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v, w): every rank says where its parts for the others lie, then gets its own from rank + 1, rank + 2, …, so
// that no two ranks read from the same one at the same time. Small parts travel in the slots and nobody waits for their
// readers; large ones in one piece are read from their owner's memory.
// p − 1 steps. Bytes: 2n per small part, n per large one.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C.
#include "coll/blocks/exchange/rotated.hpp"
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/packed.hpp"

namespace tutti::coll::algorithms::alltoall {

template <class Env>
Task rotated(Env& env, AlltoallArgs const& a) {
    return goes_packed(env, a) ? packed_alltoall(env, a) : rotated_alltoall(env, a, Limits::of(a), true);
}

extern constinit const Algorithm<AlltoallArgs> rotated_algorithm = {
    "rotated",          "small parts in slots, large ones read from their owners in rotated order",
    Family::tutti,      "after KNEM-Coll, section V.C",
    requires_nothing,   movement_parameters,
    TUTTI_RUNS(rotated)};

}   // namespace tutti::coll::algorithms::alltoall
