// SPDX-License-Identifier: BSD-3-Clause
// Exscan by load and store in everybody's buffers: each rank computes all ranks' results for its range of the indexes.
// Two exchanges; p·s bytes loaded and p·s stored by all ranks together. The argument: prefix_direct.hpp.
#include "coll/blocks/prefix/direct.hpp"
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::exscan {

template <class Env>
Task direct(Env& env, ReduceArgs const& a) {
    return prefix_direct(env, a, false);
}

extern constinit const Algorithm<ReduceArgs> direct_algorithm = {
    "direct",          "every rank computes its range of all results from the ranks below it",
    Family::tutti,     "Tutti",
    requires_one_kind, prefix_direct_parameters,
    TUTTI_RUNS(direct)};

}   // namespace tutti::coll::algorithms::exscan
