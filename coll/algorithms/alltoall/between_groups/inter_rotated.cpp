// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v, w) between two groups: every rank says where its parts for the other group lie, then gets its own from
// there, each beginning with another rank. With q ranks in the other group q steps. Bytes: 2n per small part, n per
// large one.
// After KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/exchange.hpp"

namespace tutti::coll::algorithms::alltoall {

template <class Env>
Task inter_rotated(Env& env, AlltoallArgs const& a) {
    return exchange_between_groups(env, a, a.send, a.receive);
}

extern constinit const Algorithm<AlltoallArgs> inter_rotated_algorithm = {
    "inter_rotated",
    "small parts in slots, large ones read from the other group in rotated order",
    Family::tutti,
    "after KNEM-Coll, section V.C",
    requires_two_groups,
    movement_parameters,
    TUTTI_RUNS(inter_rotated)};

}   // namespace tutti::coll::algorithms::alltoall
