// SPDX-License-Identifier: BSD-3-Clause
// Tests which locality two ranks have, on machines with and without described shared caches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topo/machines.hpp"
#include "topo/detect.hpp"
#include "topo/hierarchy.hpp"

namespace tutti::topo {
namespace {

using testing::Each;
using testing::ElementsAre;
constexpr Locality cache = Locality::cache, numa = Locality::numa, socket = Locality::socket, node = Locality::machine;

/// The localities of a rank on unit 0 and ranks on the units `to`.
std::vector<Locality> from_first(const Machine& machine, std::vector<int> to) {
    to.insert(to.begin(), 0);
    const Placement placement{.pu = to, .fixed = true};
    std::vector<Locality> all = localities(machine, placement, first_ranks(static_cast<int>(to.size())), 0);
    EXPECT_EQ(all.front(), cache) << "to itself";
    all.erase(all.begin());
    return all;
}

Machine pretended(const char* description) {
    const Result<Machine> machine = simulated_machine(description);
    EXPECT_TRUE(machine) << machine.error();
    return *machine;
}

TEST(Locality, IsTheSmallestUnitThatContainsBothRanks) {
    // units: 2 threads of a core, 2 cores of an L2, 2 L2 of an L3, 2 L3 of a NUMA node, 2 of a socket, 2 sockets
    const Machine machine = make_machine({.sockets = 2, .numas = 2, .l3s = 2, .l2s = 2, .cores = 2, .threads = 2});
    EXPECT_THAT(from_first(machine, {0, 1, 2, 4, 8, 16, 32}),
                ElementsAre(cache, cache, cache, cache, numa, socket, node));
}

TEST(Locality, AnL3AsWideAsANumaNodeIsTheNumaNode) {
    EXPECT_THAT(from_first(design_machine(), {1, 7, 8, 31, 32, 63}),
                ElementsAre(numa, numa, socket, socket, node, node));
    Machine wide = design_machine();
    for (Pu& pu : wide.pus) pu.l3 = pu.socket;
    EXPECT_THAT(from_first(wide, {1, 8, 32}), ElementsAre(numa, socket, node)) << "an L3 over several NUMA nodes";
}

TEST(Locality, WithoutDescribedCachesOnlyACoreSharesCaches) {
    EXPECT_THAT(from_first(pretended("socket:2 numa:4 core:8"), {1, 8, 32}), ElementsAre(numa, socket, node));
    EXPECT_THAT(from_first(pretended("socket:2 core:2 pu:2"), {1, 2, 4}), ElementsAre(cache, numa, node));
    EXPECT_THAT(from_first(pretended("core:4"), {1, 3}), Each(numa));
    EXPECT_THAT(from_first(Machine::plain(first_ranks(4)), {1, 2, 3}), Each(numa));
}

TEST(Locality, DescribedCachesCountIfTheyDivideTheMachine) {
    const Machine l2 = pretended("socket:2 l2:2 core:2");
    EXPECT_THAT(from_first(l2, {1, 2, 4}), ElementsAre(cache, numa, node));
    const Machine l3 = pretended("socket:2 l3:2 core:2");   // the description has no NUMA nodes: one for all units
    EXPECT_THAT(from_first(l3, {1, 2, 4}), ElementsAre(cache, numa, node));
    const Machine both = pretended("socket:2 numa:1 l3:1 l2:2 core:2");
    EXPECT_THAT(from_first(both, {1, 2, 4}), ElementsAre(cache, numa, node)) << "the L3 is as wide as the NUMA node";
}

TEST(Locality, UsesTheNodeRanksOfACommunicator) {
    const Placement placement{.pu = first_ranks(64), .fixed = true};
    const std::vector<int> some = {63, 0, 33, 1, 32};   // communicator's rank → node's rank
    EXPECT_THAT(localities(design_machine(), placement, some, 1), ElementsAre(node, cache, node, numa, node));
    EXPECT_THAT(localities(design_machine(), placement, some, 2), ElementsAre(socket, node, cache, node, numa));
}

TEST(Locality, IsTheSameInBothDirections) {
    const Machine machine = make_machine({.sockets = 2, .numas = 2, .l3s = 2, .l2s = 2, .cores = 2});
    const Placement placement{.pu = shuffled(first_ranks(32), 3), .fixed = true};
    std::vector<std::vector<Locality>> all;
    for (int rank = 0; rank < 32; ++rank) all.push_back(localities(machine, placement, first_ranks(32), rank));
    for (std::size_t a = 0; a < 32; ++a)
        for (std::size_t b = 0; b < 32; ++b) EXPECT_EQ(all[a][b], all[b][a]) << a << " and " << b;
}

}   // namespace
}   // namespace tutti::topo
