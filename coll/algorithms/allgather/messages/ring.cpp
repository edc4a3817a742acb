// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) round a ring: each rank hands to the next one what came in last.
// p − 1 steps of one part each. Bytes per rank: (p − 1)·n by single copy, else 2·(p − 1)·n; packed once more into
// and out of memory of its own where a rank's parts do not lie in a row.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, "Allgather" (long messages).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/block_row.hpp"

namespace tutti::coll::algorithms::allgather {

template <class Env>
Task ring(Env& env, AllgatherArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    GatheredRow<Env> gathered(env, a, truncation);
    co_await ring_blocks(env, m, gathered.row, 0, truncation);
    co_await m.close();
    gathered.unpack();
    truncation.check();
}

extern constinit const Algorithm<AllgatherArgs> ring_algorithm = {"ring",
                                                                  "parts go round, one step at a time",
                                                                  Family::baseline,
                                                                  "Thakur, Rabenseifner, Gropp, IJHPCA 2005, Allgather",
                                                                  requires_nothing,
                                                                  {},
                                                                  TUTTI_RUNS_ANYWHERE(ring)};

}   // namespace tutti::coll::algorithms::allgather
