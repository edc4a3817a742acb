// SPDX-License-Identifier: BSD-3-Clause
// Scan by recursive doubling: exchanges with ranks 1, 2, 4, … away. ⌈log2 p⌉ messages of s bytes in a row, read where
// they lie or staged once. See prefix_doubling.hpp.
// Hillis, Steele, "Data parallel algorithms", CACM 29 (1986), with exchanges as in Zhu, Goodell, Gropp, Thakur, 3.5.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/prefix/node_leaders.hpp"

namespace tutti::coll::algorithms::scan {

template <class Env>
Task recursive_doubling(Env& env, ReduceArgs const& a) {
    return prefix_by_doubling(env, a, true, whole);
}

extern constinit const Algorithm<ReduceArgs> recursive_doubling_algorithm = {
    "recursive_doubling",
    "sums of blocks of 1, 2, 4, … ranks are exchanged",
    Family::baseline,
    "after Hillis, Steele, CACM 29 (1986); exchanges as in Zhu and others, EuroPVM/MPI 2009, section 3.5",
    requires_grouping,
    {},
    TUTTI_RUNS_ANYWHERE(recursive_doubling)};

}   // namespace tutti::coll::algorithms::scan
