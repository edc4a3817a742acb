// SPDX-License-Identifier: BSD-3-Clause
// Broadcast along a binomial tree, whole messages: in each step as many ranks again have the data.
// ⌈log2 p⌉ messages in a row. Bytes: s per receiver by single copy, else 2s.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, "Broadcast" (short messages).
#include "coll/blocks/messages/binomial.hpp"
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task binomial(Env& env, BcastArgs const& a) {
    return binomial_bcast(env, a);
}

extern constinit const Algorithm<BcastArgs> binomial_algorithm = {
    "binomial",
    "who has the data hands it to the top of the next smaller subtree",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005, Broadcast",
    requires_nothing,
    {},
    TUTTI_RUNS_ANYWHERE(binomial)};

}   // namespace tutti::coll::algorithms::bcast
