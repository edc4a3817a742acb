// SPDX-License-Identifier: BSD-3-Clause
// Neighbor_alltoall and its v and w forms: every rank says where its blocks lie, then takes its neighbours', small ones
// from their slots, large ones in one piece from their owner's memory. As many steps as neighbours.
// Bytes: 2n per small block, n per large one.
// The order after KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/neighbor_exchange.hpp"

namespace tutti::coll::algorithms::neighbor_alltoall {

template <class Env>
Task direct(Env& env, NeighborAlltoallArgs const& a) {
    return neighbor_exchange(env, {*a.edges, a.send, a.receive, false, a.equal}, Limits::of(a));
}

extern constinit const Algorithm<NeighborAlltoallArgs> direct_algorithm = {
    "direct",          "small blocks in slots, large ones read from the neighbours' memory",
    Family::tutti,     "after KNEM-Coll, section V.C",
    requires_nothing,  movement_parameters,
    TUTTI_RUNS(direct)};

}   // namespace tutti::coll::algorithms::neighbor_alltoall
