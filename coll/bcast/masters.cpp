// SPDX-License-Identifier: BSD-3-Clause
// Broadcast on several nodes: masters hand it on along a tree, each master to its node through shared memory. The root
// is its node's master, so N nodes are crossed N − 1 times whatever the root.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.1.
#include "coll/algorithm.hpp"
#include "coll/binomial.hpp"
#include "coll/on_node.hpp"

namespace tutti::coll::algorithms::bcast {
namespace {

Task masters(NetEnv& env, BcastArgs const& a) {
    NodeMap const& map = env.map();
    int const master = map.master(map.here(), a.root);
    if (env.rank() == master) {
        NetEnv team(env, map.masters(a.root), env.across().masters);
        BcastArgs between = a;
        between.root = map.node_of(a.root);
        co_await binomial_bcast(team, between);
    }
    BcastArgs inside = a;
    inside.root = map.index_of(master);
    co_await on_node(env, Collective::bcast, inside);
}

std::uint64_t operations(BcastArgs const&, int) { return 1; }

}  // namespace

constinit const Algorithm<BcastArgs> masters_algorithm = {
    "masters", "masters along a binomial tree, each to its node", Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.1", needs_nothing, {},
    TUTTI_RUNS_ON_NODES(masters, operations)};

}  // namespace tutti::coll::algorithms::bcast
