// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm between nodes, on several nodes in one process: blocking, nonblocking and persistent calls, several
// in flight, on communicators of all or some nodes with permuted members.
#include "tests/coll/world/nodes_world.hpp"

#include "coll/call/collectives.hpp"
#include "coll/call/internal.hpp"
#include "coll/comm/derive.hpp"
#include "tests/coll/world/overlapped_cases.hpp"

namespace tutti::coll::test {
namespace {

struct Placing {
    char const* name;
    std::vector<int> node_of;   ///< by world rank
    int hands;
    std::size_t fragment;
    std::vector<int> members = {};   ///< world ranks of the communicator, in its order; empty: all
};

Variables variables(Placing const& n) {
    Variables v;
    v.wait = "shared";
    v.staging = 8192;
    v.fragment = n.fragment;
    v.fragments = 3;
    return v;
}

/// The communicator of the shape's members; null on other ranks.
Ref<Comm> made_of(Comm& world, std::vector<int> const& members) {
    auto group = Ref<Group>::adopt(new Group(members, world.process.rank()));
    bool const mine = group->rank() >= 0;
    return split(world, mine ? std::optional(0) : std::nullopt, group->rank());
}

class SeveralNodes : public testing::TestWithParam<Placing> {};

TEST_P(SeveralNodes, AgreeWithPlainComputation) {
    Placing const& shape = GetParam();
    std::vector<int> nodes_of_members = shape.node_of;
    if (!shape.members.empty()) {
        nodes_of_members.clear();
        for (int world : shape.members) nodes_of_members.push_back(shape.node_of[static_cast<std::size_t>(world)]);
    }
    std::size_t const slot = Area(nullptr, static_cast<int>(shape.node_of.size())).slot_bytes();
    Suite suite(tree_of_nodes(nodes_of_members), slot, true);
    add_cases(suite, static_cast<unsigned>(shape.hands * 5 + static_cast<int>(shape.node_of.size())));
    NodesWorld world(shape.node_of, variables(shape));
    run_ranks(
        suite,
        [&](int rank) {
            Comm& all = world.comm(rank);
            Ref<Comm> part;
            if (!shape.members.empty()) part = made_of(all, shape.members);
            if (shape.members.empty() || part) {
                Comm& comm = part ? *part : all;
                Suite own(state_of(comm).trees.hierarchy, suite.slot_bytes, true);
                own.cases = suite.cases;
                run_overlapped_cases(comm, own, suite.at, comm.rank(), static_cast<std::size_t>(shape.hands));
                std::lock_guard lock(suite.mutex);
                suite.failures.insert(suite.failures.end(), own.failures.begin(), own.failures.end());
            }
            EXPECT_EQ(state_of(all.process).progress.in_flight(), 0);
            part = {};
            world.leave(rank);
        },
        world.size());
}

INSTANTIATE_TEST_SUITE_P(Worlds, SeveralNodes,
                         testing::Values(Placing{"two_of_two", {0, 0, 1, 1}, 1, 0},
                                         Placing{"two_of_four", {0, 0, 0, 0, 1, 1, 1, 1}, 3, 20000},
                                         Placing{"four_of_two", {0, 0, 1, 1, 2, 2, 3, 3}, 2, 0},
                                         Placing{"three_and_one", {0, 0, 0, 1}, 5, 4000},
                                         Placing{"three_of_one", {0, 1, 2}, 4, 0},
                                         Placing{"dealt_out", {0, 1, 2, 0, 1, 2, 0}, 1, 10000},
                                         Placing{"some_turned_round", {0, 0, 1, 1, 2, 2, 2}, 6, 0, {6, 1, 3, 4, 2}}),
                         [](auto const& info) { return info.param.name; });

}   // namespace
}   // namespace tutti::coll::test
