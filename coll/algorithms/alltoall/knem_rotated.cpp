// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v, w): all ranks show their parts, then each copies what is for it from rank + 1, rank + 2, …, so that at
// any moment one rank reads from each. Small parts go as messages, to all at once.
// p − 1 steps. Bytes: n per part, copied by its receiver; 2n in place, where KNEM-Coll has no scheme.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C, Fig. 3.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/knem.hpp"
#include "coll/blocks/exchange/rotated.hpp"
#include "coll/blocks/messages/linear.hpp"

namespace tutti::coll::algorithms::alltoall {

template <class Env>
Task knem_rotated(Env& env, AlltoallArgs const& a) {
    if (a.equal && a.each < a.parameters[0]) {
        co_await linear_alltoall(env, a);
        co_return;
    }
    co_await rotated_alltoall(env, a, knem_limits(a), false);
}

extern constinit const Algorithm<AlltoallArgs> knem_rotated_algorithm = {
    "knem_rotated",          "every rank copies its parts from the others' memory, in rotated order",
    Family::knem_coll,       "KNEM-Coll, section V.C",
    requires_nothing,        knem_movement_parameters,
    TUTTI_RUNS(knem_rotated)};

}   // namespace tutti::coll::algorithms::alltoall
