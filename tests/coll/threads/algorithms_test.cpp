// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm with ranks as fibers, for several numbers of ranks, access paths to large buffers, and simulated
// topologies. ThreadSanitizer reports every access that the flags do not order.
#include "tests/coll/threads/ranks.hpp"
#include "tests/coll/threads/thread_algorithms.hpp"
#include "tests/coll/world/world.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace tutti::coll::test {
namespace {

struct WorldShape {
    int ranks, levels;
    bool mixed;
    AccessPath way;
    bool arenas = false;     ///< some messages can be accessed directly
    bool suspends = false;   ///< as nonblocking operations do
};

std::string name_of(testing::TestParamInfo<WorldShape> const& info) {
    WorldShape const& s = info.param;
    static constexpr char const* ways[] = {"direct", "attached", "refused", "staged"};
    return std::to_string(s.ranks) + "_ranks_" + std::to_string(s.levels) + "_levels_" + (s.mixed ? "mixed_" : "") +
           (s.arenas ? "direct_or_" : "") + ways[static_cast<int>(s.way)] + (s.suspends ? "_nonblocking" : "");
}

class Algorithms : public testing::TestWithParam<WorldShape> {};

TEST_P(Algorithms, AgreeWithPlainComputation) {
    WorldShape const setup = GetParam();
    ThreadWorld world(setup.ranks, make_tree(setup.ranks, setup.levels, setup.mixed), setup.way);
    world.suspends = setup.suspends;
    Suite suite(world.trees.hierarchy, world.area.slot_bytes());
    add_cases(suite, static_cast<unsigned>(setup.ranks * 31 + setup.levels * 7 + static_cast<int>(setup.way)));
    if (setup.way == AccessPath::attach || setup.ranks == 3) world.copier = Copier({}, Copier::Stores::nontemporal);
    std::size_t const room = setup.arenas ? 32 << 20 : 0, ranks = static_cast<std::size_t>(setup.ranks);
    std::unique_ptr<std::byte[]> const arenas(new std::byte[room * ranks]);
    world.arena = {arenas.get(), room * ranks};
    auto const rank_body = [&](int rank) {
        FramePool frames;
        std::uint64_t op = 0;
        auto const execute = [&](AlgorithmRow const& algorithm, AnyArgs args) {
            coll::run(world, rank, ++op, frames, algorithm, args);
        };
        std::optional<Arena> arena;
        if (setup.arenas)
            arena.emplace(std::span(arenas.get() + room * static_cast<std::size_t>(rank), room), rank, setup.ranks);
        run_cases(suite, rank, execute, arena ? &*arena : nullptr);
    };
    run_as_ranks(setup.ranks, rank_body, [&] { return suite.describe(suite.cases[suite.at]); });
    report(suite);
}

std::vector<WorldShape> setups() {
    std::vector<WorldShape> all;
    int turn = 0;
    for (int ranks : {1, 2, 3, 4, 5, 7, 8, 16})
        for (AccessPath way : {AccessPath::load_store, AccessPath::cma, AccessPath::staged}) {
            int const levels = 1 + turn % 4;
            all.push_back({ranks, levels, ranks >= 4 && turn % 3 == 0, way});
            ++turn;
        }
    for (int ranks : {2, 3, 4, 8}) {
        for (AccessPath way : {AccessPath::attach, AccessPath::cma, AccessPath::staged})
            all.push_back({ranks, 1 + ranks / 4, false, way, true});
    }
    for (int ranks : {2, 3}) all.push_back({ranks, 1, false, AccessPath::load_store, false, true});
    for (int ranks : {2, 4, 8}) all.push_back({ranks, 1, false, AccessPath::cma, true, true});
    all.push_back({3, 1, false, AccessPath::attach});
    all.push_back({5, 2, true, AccessPath::attach});
    return all;
}
INSTANTIATE_TEST_SUITE_P(Worlds, Algorithms, testing::ValuesIn(setups()), name_of);

}   // namespace
}   // namespace tutti::coll::test
