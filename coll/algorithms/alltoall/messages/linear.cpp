// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v, w): every rank sends to all others at once and receives from each.
// One step of p − 1 messages each way. Bytes: n per part by single copy, else 2n; always 2n in place.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, All-to-All (medium messages).
#include "coll/blocks/messages/linear.hpp"
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::alltoall {

template <class Env>
Task linear(Env& env, AlltoallArgs const& a) {
    return linear_alltoall(env, a);
}

extern constinit const Algorithm<AlltoallArgs> linear_algorithm = {
    "linear",
    "messages to all and from all at once",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005, All-to-All (medium messages)",
    requires_nothing,
    {},
    TUTTI_RUNS_ANYWHERE(linear)};

}   // namespace tutti::coll::algorithms::alltoall
