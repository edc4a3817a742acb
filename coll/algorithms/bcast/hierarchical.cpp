// SPDX-License-Identifier: BSD-3-Clause
// Broadcast over any number of levels, pulled and pipelined: every leader shows its buffer, counts up the chunks in it,
// and its team copies them; acknowledgements come back over the same tree. The root, with nothing to pull, writes the
// last part of each child's buffer where both lie in arenas: with c children c + 1 ranks copy c·s/(c + 1) bytes each.
// L + s/chunk steps; (p − 1)·s bytes copied by single copy, of any layout, at most twice that where it is staged.
// XHC (Katevenis, Ploumidis, Marazakis), section IV.A; the root's share is ours.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/trees/chunk_broadcast.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task hierarchical(Env& env, BcastArgs const& a) {
    LeaderPlace place = place_in_hierarchy(env.frames(), env.hierarchy(), env.rank(), a.root);
    return chunk_broadcast(env, a, std::move(place), [&env, root = a.root] {
        return children_in_hierarchy(env.hierarchy(), root, root, env.hierarchy().levels());
    });
}

constexpr Parameter hierarchical_parameters[] = {
    {"chunk", 65536, "bytes that are passed on at a time on each level", ParameterKind::per_level},
    root_share_parameter,
    crowded_share_parameter,
    hierarchy_parameter};
extern constinit const Algorithm<BcastArgs> hierarchical_algorithm = {
    "hierarchical",          "every team pulls chunks from its leader's buffer, level after level",
    Family::tutti,           "after XHC, section IV.A",
    requires_nothing,        hierarchical_parameters,
    TUTTI_RUNS(hierarchical)};

}   // namespace tutti::coll::algorithms::bcast
