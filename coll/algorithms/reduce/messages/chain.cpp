// SPDX-License-Identifier: BSD-3-Clause
// Reduce along a chain of ranks that ends at the root, in segments; with an operator that does not commute it ends at
// rank 0, which hands the result to the root. p − 1 (+ 1) + s/segment messages in a row; each rank hands on s bytes,
// read where they lie or staged once.
// Pješivac-Grbović, Angskun, Bosilca, Fagg, Gabriel, Dongarra, "Performance analysis of MPI collective operations",
// Cluster Computing 10 (2007), "pipeline".
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/reduce_to_root.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task chain(Env& env, ReduceArgs const& a) {
    return reduce_by_shape(env, a, chain_tree, a.parameters[0]);
}

constexpr Parameter chain_parameters[] = {{"segment", 32768, "bytes that are passed on at a time"}};
extern constinit const Algorithm<ReduceArgs> chain_algorithm = {
    "chain",
    "segments run along the ranks to the root, each adding its own",
    Family::baseline,
    "Pješivac-Grbović and others, Cluster Computing 10 (2007)",
    requires_grouping,
    chain_parameters,
    TUTTI_RUNS_ANYWHERE(chain)};

}   // namespace tutti::coll::algorithms::reduce
