// SPDX-License-Identifier: BSD-3-Clause
// Neighbor_allgather and its v form: every rank says where its block lies, then takes its neighbours', small ones from
// their slots, large ones in one piece from their owner's memory. As many steps as neighbours.
// Bytes: 2n per small block, n per large one.
// The order after KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/neighbor_exchange.hpp"

namespace tutti::coll::algorithms::neighbor_allgather {

template <class Env>
Task direct(Env& env, NeighborAllgatherArgs const& a) {
    Parts const out = Parts::same(a.mine.address, a.mine.count, *a.mine.type);
    return neighbor_exchange(env, {*a.edges, out, a.receive, true, a.equal}, Limits::of(a));
}

extern constinit const Algorithm<NeighborAllgatherArgs> direct_algorithm = {
    "direct",          "small blocks in slots, large ones read from the neighbours' memory",
    Family::tutti,     "after KNEM-Coll, section V.C",
    requires_nothing,  movement_parameters,
    TUTTI_RUNS(direct)};

}   // namespace tutti::coll::algorithms::neighbor_allgather
