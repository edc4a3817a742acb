// SPDX-License-Identifier: BSD-3-Clause
// Reduce along a binomial tree, whole messages; with an operator that does not commute to rank 0 and from there to the
// root. ⌈log2 p⌉ (+ 1) messages in a row; p − 1 (+ 1) messages of s bytes, read where they lie or staged once.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, section 4.4 (short messages).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/reduce_to_root.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task binomial(Env& env, ReduceArgs const& a) {
    return reduce_by_shape(env, a, binomial_tree, whole);
}

extern constinit const Algorithm<ReduceArgs> binomial_algorithm = {
    "binomial",
    "each rank combines its subtree's operands and hands them to its parent",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    requires_grouping,
    {},
    TUTTI_RUNS_ANYWHERE(binomial)};

}   // namespace tutti::coll::algorithms::reduce
