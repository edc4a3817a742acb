// SPDX-License-Identifier: BSD-3-Clause
// Neighbor_allgather and its v form: a message along each edge, all at once.
// One step of as many messages as there are edges. Bytes: n per block by single copy, else 2n.
// MPI 3.1, section 7.6: by these messages the standard says what the calls mean.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/neighbor_linear.hpp"

namespace tutti::coll::algorithms::neighbor_allgather {

template <class Env>
Task linear(Env& env, NeighborAllgatherArgs const& a) {
    Parts const out = Parts::same(a.mine.address, a.mine.count, *a.mine.type);
    return neighbor_linear(env, {*a.edges, out, a.receive, true, a.equal});
}

extern constinit const Algorithm<NeighborAllgatherArgs> linear_algorithm = {"linear",
                                                                            "a message along each edge, all at once",
                                                                            Family::baseline,
                                                                            "MPI 3.1, section 7.6",
                                                                            requires_nothing,
                                                                            {},
                                                                            TUTTI_RUNS_ANYWHERE(linear)};

}   // namespace tutti::coll::algorithms::neighbor_allgather
