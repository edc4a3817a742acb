// SPDX-License-Identifier: BSD-3-Clause
// Reduce with everybody sending to the root, which combines in rank order from its own place outwards.
// p − 1 messages of s bytes one after the other at the root, read where they lie or staged once.
// Pješivac-Grbović, Angskun, Bosilca, Fagg, Gabriel, Dongarra, "Performance analysis of MPI collective operations",
// Cluster Computing 10 (2007), "linear".
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/reduce_to_root.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task linear(Env& env, ReduceArgs const& a) {
    return reduce_to_root(env, a, place_around(env.frames(), star_tree, a.root, env.rank(), env.size(), false), a.root,
                          whole);
}

extern constinit const Algorithm<ReduceArgs> linear_algorithm = {
    "linear",
    "everybody sends to the root, which combines",
    Family::baseline,
    "Pješivac-Grbović and others, Cluster Computing 10 (2007)",
    requires_grouping,
    {},
    TUTTI_RUNS_ANYWHERE(linear)};

}   // namespace tutti::coll::algorithms::reduce
