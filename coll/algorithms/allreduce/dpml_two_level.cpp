// SPDX-License-Identifier: BSD-3-Clause
// Allreduce in parallel on two levels, for small messages: every rank copies its operand into shared memory, the
// members of each socket share its reduction out, each rank combines the sockets' results of its slice, everybody
// copies all out. Three steps per round of p·slice bytes, waiting for the own socket and for those with the same slice;
// (7p − 3)·s bytes loaded and stored by all ranks together. Sockets of consecutive ranks keep the operands' order.
// YHCCL (Peng et al., SC 2023), section 5.1; what a socket is here: sockets.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/multi_leader.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task dpml_two_level(Env& env, ReduceArgs const& a) {
    return reduce_by_leaders_of_sockets(env, a, Receives::all);
}

extern constinit const Algorithm<ReduceArgs> dpml_two_level_algorithm = {
    "dpml_two_level",
    "sockets reduce what their members stage, then each rank combines the sockets' slices",
    Family::yhccl,
    "YHCCL (Peng et al., SC 2023), section 5.1",
    requires_commutative,
    dpml_two_level_parameters,
    TUTTI_RUNS(dpml_two_level)};

}   // namespace tutti::coll::algorithms::allreduce
