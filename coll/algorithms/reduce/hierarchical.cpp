// SPDX-License-Identifier: BSD-3-Clause
// Reduce over any number of levels, in blocks: the members of each team share the work by index range, the root leads
// every team that it is in. L steps per block; each byte is staged once and read once per level.
// XHC (Katevenis, Ploumidis, Marazakis), section IV.B without its broadcast. The argument why buffers are reused
// safely: tree_reduction.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/trees/tree_reduction.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task hierarchical(Env& env, ReduceArgs const& a) {
    TreeReduction<Env> reduction(env, env.hierarchy(), a, a.root, 0, a.parameters[1]);
    co_await reduction.run();
}

extern constinit const Algorithm<ReduceArgs> hierarchical_algorithm = {
    "hierarchical",          "teams reduce by index range, level after level",
    Family::tutti,           "after XHC, section IV.B",
    requires_commutative,    tree_reduction_parameters,
    TUTTI_RUNS(hierarchical)};

}   // namespace tutti::coll::algorithms::reduce
