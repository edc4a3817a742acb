// SPDX-License-Identifier: BSD-3-Clause
// Allreduce on several nodes: each node reduces to its master through shared memory, the masters combine among
// themselves, each master hands the result to its node. Between N nodes as many steps and bytes as the masters'
// algorithm has among N ranks.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.3.
#include "coll/algorithm.hpp"
#include "coll/on_node.hpp"
#include "coll/reducer.hpp"

namespace tutti::coll::algorithms::allreduce {
namespace {

Algorithm<ReduceArgs> const& between_masters(ReduceArgs const& a) {
    static constexpr Algorithm<ReduceArgs> const* all[] = {&recursive_doubling_algorithm, &rabenseifner_algorithm,
                                                           &ring_algorithm};
    return *all[a.parameters[0]];
}

Task masters(NetEnv& env, ReduceArgs const& a) {
    NodeMap const& map = env.map();
    bool const master = env.rank() == map.master(map.here());
    ReduceArgs inside = a;
    inside.root = 0;
    if (!master) {
        inside.in = operand(a).address;
        inside.out = nullptr;
    }
    co_await on_node(env, Collective::reduce, inside);
    if (master) {
        NetEnv team(env, map.masters(), env.across().masters);
        Algorithm<ReduceArgs> const& between = between_masters(a);
        ReduceArgs combined = a;
        combined.in = in_place;
        co_await between.net(team, combined);
    }
    BcastArgs back{};
    back.data = result(a);
    back.root = 0;
    co_await on_node(env, Collective::bcast, back);
}

std::uint64_t operations(ReduceArgs const&, int) { return 2; }

}  // namespace

constexpr Parameter masters_parameters[] = {
    {"between", 0, "how the masters combine", ParameterKind::word, "recursive_doubling|rabenseifner|ring"},
};
constinit const Algorithm<ReduceArgs> masters_algorithm = {
    "masters", "each node reduces to its master, masters with each other, each master to its node", Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.3", needs_commutative, masters_parameters,
    TUTTI_RUNS_ON_NODES(masters, operations)};

}  // namespace tutti::coll::algorithms::allreduce
