// SPDX-License-Identifier: BSD-3-Clause
// Reduce, movement-avoiding: p slices a round, of each one operand is copied into shared memory and p − 1 are combined
// with it in place, as the slice goes from rank to rank. The root then copies all slices into its result.
// p steps per round of p·slice bytes; (3p + 1)·s bytes loaded and stored by all ranks together.
// YHCCL (Peng et al., SC 2023), section 3.5.
#include "coll/blocks/reduce/movement_avoiding.hpp"
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task movement_avoiding(Env& env, ReduceArgs const& a) {
    return reduce_by_chain(env, a, Receives::root);
}

constexpr Parameter movement_avoiding_parameters[] = {largest_slice_parameter};
extern constinit const Algorithm<ReduceArgs> movement_avoiding_algorithm = {
    "movement_avoiding",
    "each slice goes round all ranks, who combine it in place in shared memory",
    Family::yhccl,
    "YHCCL (Peng et al., SC 2023), section 3.5",
    requires_commuting_operator,
    movement_avoiding_parameters,
    TUTTI_RUNS(movement_avoiding)};

}   // namespace tutti::coll::algorithms::reduce
