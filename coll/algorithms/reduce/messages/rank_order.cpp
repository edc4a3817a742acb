// SPDX-License-Identifier: BSD-3-Clause
// Reduce along all ranks in their order, in segments, and from the last one to the root: the same bits wherever ranks
// are. p + s/segment messages in a row. See rank_order.hpp. The definition as it stands: MPI 3.1, section 5.9.1.
#include "coll/blocks/messages/rank_order.hpp"
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/reduce_to_root.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task rank_order(Env& env, ReduceArgs const& a) {
    return reduce_to_root(env, a, in_rank_order(env.frames(), env.rank(), env.size()), env.size() - 1, a.parameters[0]);
}

extern constinit const Algorithm<ReduceArgs> rank_order_algorithm = {"rank_order",
                                                                     "the sum runs along all ranks in their order",
                                                                     Family::baseline,
                                                                     "the definition, MPI 3.1, section 5.9.1",
                                                                     requires_nothing,
                                                                     rank_order_parameters,
                                                                     TUTTI_RUNS_ANYWHERE(rank_order)};

}   // namespace tutti::coll::algorithms::reduce
