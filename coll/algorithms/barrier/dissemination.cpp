// SPDX-License-Identifier: BSD-3-Clause
// Barrier by dissemination: after step k every rank knows of 2^(k + 1). ⌈log2 p⌉ steps, p messages of no bytes in each.
// Hensgen, Finkel, Manber, Int. J. of Parallel Programming 17 (1988).
#include <numeric>
#include <vector>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/dissemination.hpp"

namespace tutti::coll::algorithms::barrier {

template <class Env>
Task dissemination(Env& env, BarrierArgs const&) {
    std::vector<int> ranks(static_cast<std::size_t>(env.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    co_await disseminate(env, ranks, env.rank());
}

extern constinit const Algorithm<BarrierArgs> dissemination_algorithm = {
    "dissemination",          "word from ranks 1, 2, 4, … behind to ranks as far ahead",
    Family::baseline,         "Hensgen, Finkel, Manber, Int. J. of Parallel Programming 17 (1988)",
    requires_nothing,         {},
    TUTTI_RUNS(dissemination)};

}   // namespace tutti::coll::algorithms::barrier
