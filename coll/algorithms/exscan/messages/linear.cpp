// SPDX-License-Identifier: BSD-3-Clause
// Exscan along the ranks, whole messages: each receives from the rank before, and sends the sum with its own to the
// next. p − 1 messages of s bytes in a row, read where they lie or staged once.
// The definition as it stands: MPI 3.1, section 5.11.
#include "coll/blocks/prefix/linear.hpp"
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::exscan {

template <class Env>
Task linear(Env& env, ReduceArgs const& a) {
    return prefix_linear(env, a, false);
}

extern constinit const Algorithm<ReduceArgs> linear_algorithm = {"linear",
                                                                 "the sum runs from rank to rank in one piece",
                                                                 Family::baseline,
                                                                 "the definition, MPI 3.1, section 5.11",
                                                                 requires_nothing,
                                                                 {},
                                                                 TUTTI_RUNS_ANYWHERE(linear)};

}   // namespace tutti::coll::algorithms::exscan
