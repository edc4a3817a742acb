// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block) in blocks: in each step every rank stages a piece of everybody's share and reduces the piece
// of its own from all staging memories in one pass, in rank order. max(count)·p/chunk steps; each rank stages s bytes,
// of which its own share stays where it is if nothing forbids, and reads s. DPML (Bayatpour et al., SC 2017), in
// blocks. Steps and the argument why buffers are reused safely: scatter_blocks.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/scatter_blocks.hpp"

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task blocks(Env& env, ReduceScatterArgs const& a) {
    return scatter_in_blocks(env, a, a.parameters[0]);
}

constexpr Parameter blocks_parameters[] = {{"chunk", 32768, "bytes of each rank's share that are staged in one step"}};
extern constinit const Algorithm<ReduceScatterArgs> blocks_algorithm = {
    "blocks",          "every rank reduces its share, block after block",
    Family::tutti,     "DPML, in blocks of the cache's size",
    requires_nothing,  blocks_parameters,
    TUTTI_RUNS(blocks)};

}   // namespace tutti::coll::algorithms::reduce_scatter
