// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block) between two groups by messages: every rank tells the other group which elements it wants, gets
// them of all operands there, and combines them. Two steps; with groups of p and q ranks (p + q)·s bytes go out and in
// again, piece by piece.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/reduce.hpp"

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task inter_slices(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() > 0) co_await reduce_scatter_by_slices(env, a);
}

extern constinit const Algorithm<ReduceScatterArgs> inter_slices_algorithm = {
    "inter_slices",
    "each rank gets its share of the other group's operands and combines it",
    Family::tutti,
    "Tutti",
    requires_two_groups,
    {},
    TUTTI_RUNS_ANYWHERE(inter_slices)};

}   // namespace tutti::coll::algorithms::reduce_scatter
