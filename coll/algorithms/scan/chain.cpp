// SPDX-License-Identifier: BSD-3-Clause
// Scan in blocks along the chain of ranks: each adds its own to what comes from the rank below and hands it on.
// p − 1 + s/chunk steps; each rank loads 2·s and stores 2·s bytes. The protocol: prefix_chain.hpp.
#include "coll/blocks/prefix/chain.hpp"
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::scan {

template <class Env>
Task chain(Env& env, ReduceArgs const& a) {
    return prefix_chain(env, a, true, a.parameters[0]);
}

extern constinit const Algorithm<ReduceArgs> chain_algorithm = {
    "chain",          "blocks run along the ranks, each adding its own",
    Family::tutti,    "Tutti",
    requires_nothing, prefix_chain_parameters,
    TUTTI_RUNS(chain)};

}   // namespace tutti::coll::algorithms::scan
