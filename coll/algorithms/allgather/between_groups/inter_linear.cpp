// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) between two groups: every rank sends its part to all of the other group, all at once. One step of as
// many messages each way as there are ranks in the other group. Bytes: n per part by single copy, else 2n.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/linear.hpp"

namespace tutti::coll::algorithms::allgather {

template <class Env>
Task inter_linear(Env& env, AllgatherArgs const& a) {
    return exchange_with_other_group(env, a, Parts::same(a.mine.address, a.mine.count, *a.mine.type), a.parts);
}

extern constinit const Algorithm<AllgatherArgs> inter_linear_algorithm = {
    "inter_linear",
    "messages to all of the other group and from all of it, at once",
    Family::baseline,
    "folklore",
    requires_two_groups,
    {},
    TUTTI_RUNS_ANYWHERE(inter_linear)};

}   // namespace tutti::coll::algorithms::allgather
