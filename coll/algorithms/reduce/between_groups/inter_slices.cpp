// SPDX-License-Identifier: BSD-3-Clause
// Reduce from one group to a root in the other, by messages: in the operands' group every rank gets its slice of all
// operands, combines it and sends the sum to the root. Two steps; with q operands (q − 1)·s and then s bytes go out and
// in again, piece by piece.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/reduce.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task inter_slices(Env& env, ReduceArgs const& a) {
    if (a.bytes() > 0) co_await reduce_by_slices(env, a, a.parameters[0]);
}

constexpr Parameter inter_slices_parameters[] = {share_parameter};
extern constinit const Algorithm<ReduceArgs> inter_slices_algorithm = {
    "inter_slices",
    "each rank of the group combines a slice and sends it to the root",
    Family::tutti,
    "Tutti",
    requires_two_groups,
    inter_slices_parameters,
    TUTTI_RUNS_ANYWHERE(inter_slices)};

}   // namespace tutti::coll::algorithms::reduce
