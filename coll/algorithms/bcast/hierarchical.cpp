// SPDX-License-Identifier: BSD-3-Clause
// Broadcast over any number of levels, pulled and pipelined: every leader shows its buffer, counts up the chunks in it,
// and its team copies them; acknowledgements come back over the same tree. The root, with nothing to pull, writes the
// last part of each child's buffer where both lie in arenas: with c children c + 1 ranks copy c·s/(c + 1) bytes each.
// L + s/chunk steps; (p − 1)·s bytes copied by single copy, of any layout, at most twice that where it is staged.
// XHC (Katevenis, Ploumidis, Marazakis), section IV.A; the root's share is ours.
#include "coll/blocks/trees/chunk_broadcast.hpp"

namespace tutti::coll::algorithms::bcast {
namespace {

using chunk_broadcast::Relatives;

template <class Env>
Relatives relatives_of(Env& env, int root) {
    Relatives mine(env.frames());
    int const levels = env.hierarchy().levels_of(env.rank(), root);
    for (int level = 0; level < levels; ++level) {   // the members of the teams that this rank leads
        topo::Team const team = env.hierarchy().team(level, env.rank(), root);
        if (!team.i_lead) break;
        for (int member : team.members)
            if (member != env.rank()) mine.children.push_back(member);
    }
    mine.level = levels - 1;
    if (env.rank() != root) mine.parent = env.hierarchy().team(levels - 1, env.rank(), root).leader;
    return mine;
}

}  // namespace

template <class Env>
Task hierarchical(Env& env, BcastArgs const& a) {
    return chunk_broadcast::run(env, a, relatives_of(env, a.root), [&env, root = a.root] {
        std::size_t children = 0;
        for (int level = 0, all = env.hierarchy().levels_of(root, root); level < all; ++level)
            children += env.hierarchy().team(level, root, root).members.size() - 1;
        return children;
    });
}

constexpr Parameter hierarchical_parameters[] = {
    {"chunk", 65536, "bytes that are passed on at a time on each level", ParameterKind::per_level},
    chunk_broadcast::share_parameter, chunk_broadcast::crowded_share_parameter, hierarchy_parameter};
extern constinit const Algorithm<BcastArgs> hierarchical_algorithm = {
    "hierarchical", "every team pulls chunks from its leader's buffer, level after level", Family::tutti,
    "after XHC, section IV.A", requires_nothing, hierarchical_parameters, TUTTI_RUNS(hierarchical)};

}  // namespace tutti::coll::algorithms::bcast
