// SPDX-License-Identifier: BSD-3-Clause
// Allreduce along all ranks in their order, in segments, and back: the same bits wherever ranks are. 2 (p − 1) +
// s/segment messages in a row. See rank_order.hpp. The definition as it stands: MPI 3.1, section 5.9.6.
#include "coll/blocks/messages/rank_order.hpp"
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task rank_order(Env& env, ReduceArgs const& a) {
    Messages<Env> m(env, element_of(a));
    Segments const segments(a.bytes(), element_of(a), a.parameters[0]);
    TreePlace place = in_rank_order(env.frames(), env.rank(), env.size());
    CombineUp<Env> up(env, m, a, place, segments, place.parent < 0);
    place.children.swap(place.before);   // on the way down there is no order to keep
    PassDown<Env> down(env, m, result(a), place, segments);
    co_await flow(env, up, &down, segments.count, 2 * static_cast<std::uint64_t>(place.depth));
    co_await m.close();
}

extern constinit const Algorithm<ReduceArgs> rank_order_algorithm = {
    "rank_order",
    "the sum runs along all ranks in their order, and back",
    Family::baseline,
    "the definition, MPI 3.1, section 5.9.6",
    requires_nothing,
    rank_order_parameters,
    TUTTI_RUNS_ANYWHERE(rank_order)};

}   // namespace tutti::coll::algorithms::allreduce
