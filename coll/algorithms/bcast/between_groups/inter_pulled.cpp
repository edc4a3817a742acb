// SPDX-License-Identifier: BSD-3-Clause
// Broadcast from one group to the other: the root shows its buffer, the ranks of the other group copy chunks from it,
// and where all lie in arenas the root writes the last part of each. The root's own group has nothing to do. s/chunk
// steps; with q readers q·s copied once by single copy, by q + 1 ranks; (q + 1)·s more where it is staged.
// XHC (Katevenis, Ploumidis, Marazakis), section IV.A, with one level; the root's share is ours.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/two_groups.hpp"
#include "coll/blocks/trees/chunk_broadcast.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task inter_pulled(Env& env, BcastArgs const& a) {
    TwoGroups const groups(env, a);
    LeaderPlace mine(env.frames());
    if (env.rank() == a.root) {
        std::vector<int> const others = groups.other.all_but(a.root);
        mine.children.assign(others.begin(), others.end());
    } else if (groups.other.has(a.root)) {
        mine.parent = a.root;
    } else {
        co_return;
    }
    co_await chunk_broadcast(env, a, std::move(mine),
                             [&groups] { return static_cast<std::size_t>(groups.own.size()); });
}

constexpr Parameter inter_pulled_parameters[] = {
    {"chunk", 65536, "bytes that are passed on at a time"}, root_share_parameter, crowded_share_parameter};
extern constinit const Algorithm<BcastArgs> inter_pulled_algorithm = {
    "inter_pulled",          "the other group pulls chunks from the root's buffer",
    Family::tutti,           "after XHC, section IV.A",
    requires_two_groups,     inter_pulled_parameters,
    TUTTI_RUNS(inter_pulled)};

}   // namespace tutti::coll::algorithms::bcast
