// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) between two groups: every rank says where its part lies, those of the other group read it, each
// beginning with another rank. With q ranks in the other group q steps. Bytes: n per reader by single copy, else 2n.
// After KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/exchange.hpp"

namespace tutti::coll::algorithms::allgather {

template <class Env>
Task inter_rotated(Env& env, AllgatherArgs const& a) {
    Ranks const others = TwoGroups(env, a).other;
    Parts const out = Parts::same(a.mine.address, a.mine.count, *a.mine.type).only_of(others.first, others.size());
    return exchange_between_groups(env, a, out, a.parts);
}

extern constinit const Algorithm<AllgatherArgs> inter_rotated_algorithm = {
    "inter_rotated",
    "small parts in slots, large ones read by the other group in rotated order",
    Family::tutti,
    "after KNEM-Coll, section V.C",
    requires_two_groups,
    movement_parameters,
    TUTTI_RUNS(inter_rotated)};

}   // namespace tutti::coll::algorithms::allgather
