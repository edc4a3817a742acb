// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) by recursive doubling: in each step two ranks exchange all the parts that they have.
// log2 p steps; if p is no power of two, ⌊log2 p⌋ + 2, with one rank of some pairs standing aside. Bytes per rank:
// (p − 1)·n by single copy, else 2·(p − 1)·n; packed once more where a rank's parts do not lie in a row.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, "Allgather"; the pairs are from its allreduce.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/block_row.hpp"

namespace tutti::coll::algorithms::allgather {

template <class Env>
Task recursive_doubling(Env& env, AllgatherArgs const& a) {
    return doubling_allgather(env, a);
}

extern constinit const Algorithm<AllgatherArgs> recursive_doubling_algorithm = {
    "recursive_doubling",
    "two ranks exchange all they have, twice as much in each step",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005, Allgather",
    requires_room,
    {},
    TUTTI_RUNS_ANYWHERE(recursive_doubling)};

}   // namespace tutti::coll::algorithms::allgather
