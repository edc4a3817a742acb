// SPDX-License-Identifier: BSD-3-Clause
// Allreduce between two groups by messages: every rank gets its slice of all operands of the other group, combines it
// and sends the sum to its own group. Two steps; with groups of p and q ranks 2·q·s and (p − 1)·s + (q − 1)·s bytes go
// out and in again, piece by piece.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/reduce.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task inter_slices(Env& env, ReduceArgs const& a) {
    if (a.bytes() > 0) co_await allreduce_by_slices(env, a, a.parameters[0]);
}

constexpr Parameter inter_slices_parameters[] = {share_parameter};
extern constinit const Algorithm<ReduceArgs> inter_slices_algorithm = {
    "inter_slices",
    "each rank combines a slice of the other group's operands for its own",
    Family::tutti,
    "Tutti",
    requires_two_groups,
    inter_slices_parameters,
    TUTTI_RUNS_ANYWHERE(inter_slices)};

}   // namespace tutti::coll::algorithms::allreduce
