// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v, w) between two groups: messages to all of the other group and from all of it, at once. One step of as
// many messages each way as there are ranks in the other group. Bytes: n per part by single copy, else 2n.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/linear.hpp"

namespace tutti::coll::algorithms::alltoall {

template <class Env>
Task inter_linear(Env& env, AlltoallArgs const& a) {
    return exchange_with_other_group(env, a, a.send, a.receive);
}

extern constinit const Algorithm<AlltoallArgs> inter_linear_algorithm = {
    "inter_linear",
    "messages to all of the other group and from all of it, at once",
    Family::baseline,
    "folklore",
    requires_two_groups,
    {},
    TUTTI_RUNS_ANYWHERE(inter_linear)};

}   // namespace tutti::coll::algorithms::alltoall
