// SPDX-License-Identifier: BSD-3-Clause
// Barrier on several nodes: each node gathers at its master, the masters disseminate, each master lets its node go.
// ⌈log2 N⌉ steps of empty messages between N nodes; inside, a barrier and a broadcast of one byte.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.4; between masters
// Hensgen, Finkel, Manber, IJPP 1988.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/messages.hpp"
#include "coll/env/on_node.hpp"

namespace tutti::coll::algorithms::barrier {
namespace {

Task disseminate(NetEnv& env) {
    Messages<NetEnv> m(env);
    int const size = env.size(), rank = env.rank();
    auto nothing = [](std::byte const*, std::size_t, std::size_t) {};
    for (int step = 1; step < size; step *= 2)
        co_await m.exchange((rank + step) % size, packed_part(nullptr, 0), (rank - step + size) % size, 0, nothing);
    co_await m.close();
}

Task masters(NetEnv& env, BarrierArgs const&) {
    Division const& map = env.map();
    bool const master = env.rank() == map.master(map.mine());
    std::byte go{};
    co_await on_node(env, Collective::barrier, BarrierArgs{});
    if (master) {
        NetEnv team(env, map.masters(env.frames()), env.multi_node().masters);
        co_await disseminate(team);
    }
    co_await on_node(env, Collective::bcast, bytes_from(&go, 1, 0));
}

std::uint64_t masters_operations(BarrierArgs const&, Division const&) { return 2; }

}   // namespace

extern constinit const Algorithm<BarrierArgs> masters_algorithm = {
    "masters",
    "each node to its master, masters by dissemination, each master to its node",
    Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.4; Hensgen, Finkel, Manber, IJPP 1988",
    requires_nothing,
    {},
    TUTTI_RUNS_ON_NODES(masters)};

}   // namespace tutti::coll::algorithms::barrier
