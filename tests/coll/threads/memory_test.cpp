// SPDX-License-Identifier: BSD-3-Clause
// Memory exhaustion in the middle of an operation, at every allocation of each rank: no rank waits forever, each rank
// has the right result or an error, and the next operation succeeds.
#include <gtest/gtest.h>

#include <optional>

#include "tests/coll/threads/ranks.hpp"
#include "tests/coll/threads/thread_algorithms.hpp"
#include "tests/coll/world/allocations.hpp"
#include "tests/coll/world/world.hpp"

namespace tutti::coll::test {
namespace {

constexpr std::size_t unlimited = ~std::size_t{0};
// Each case refuses one allocation in `thinning`, starting at another one: ThreadSanitizer makes the test ten times
// slower.
#if defined(__SANITIZE_THREAD__)
constexpr std::size_t thinning = 8;
#else
constexpr std::size_t thinning = 1;
#endif

/// One rank's part in one case, with a given number of allocations that succeed.
struct Starved {
    ThreadWorld& world;
    int rank;
    std::size_t allowed = unlimited;
    std::uint64_t op = 0;
    bool failed = false;

    void operator()(AlgorithmRow const& algorithm, AnyArgs args) {
        FramePool frames;   // empty: every coroutine allocates from the system
        AllocationLimit const ends(allowed);
        coll::run(world, rank, ++op, frames, algorithm, args);
    }
};

struct StarvedWorld {
    int ranks;
    AccessPath way;
    bool arenas;
};

class MemoryRunsOut : public testing::TestWithParam<StarvedWorld> {};

/// A few cases of each algorithm: small and large, dense and with gaps.
void choose_cases(Suite& suite) {
    add_cases(suite, 3);
    std::map<AlgorithmRow const*, std::map<std::pair<bool, int>, int>> taken;
    std::erase_if(suite.cases, [&](Case const& c) {
        bool const large = c.bytes > 10000;
        return c.bytes > 70000 || (c.bytes < 40 && c.algorithm->collective != Collective::barrier) || c.kind > 2 ||
               ++taken[c.algorithm][{large, c.kind > 0}] > 1;
    });
}

TEST_P(MemoryRunsOut, AndAllRanksEnd) {
    StarvedWorld const shape = GetParam();
    ThreadWorld world(shape.ranks, make_tree(shape.ranks, 2), shape.way);
    Suite suite(world.trees.hierarchy, world.area.slot_bytes());
    choose_cases(suite);
    std::size_t const room = shape.arenas ? 4 << 20 : 0, ranks = static_cast<std::size_t>(shape.ranks);
    std::unique_ptr<std::byte[]> const arenas(new std::byte[room * ranks]);
    world.arena = {arenas.get(), room * ranks};
    RankBarrier together(shape.ranks);
    std::atomic<bool> ran_out = false;
    std::atomic<int> tried = 0, errors_returned = 0;
    auto const rank_body = [&](int rank) {
        std::vector<Operator> const own_operators = make_operators();
        Starved starved{world, rank};
        Execute const execute = std::ref(starved);
        std::optional<Arena> arena;
        std::span const mine(arenas.get() + room * static_cast<std::size_t>(rank), room);
        if (shape.arenas) arena.emplace(mine, rank, shape.ranks);
        for (std::size_t i = 0; i < suite.cases.size(); ++i) {
            CaseRun const case_run{suite, suite.cases[i], rank, execute, own_operators};
            for (int victim : {0, shape.ranks - 1})
                for (std::size_t allowed = i % thinning;; allowed += thinning) {
                    if (rank == 0) suite.at = i, ran_out = false;
                    if (arena) arena->begin(i);
                    together.arrive_and_wait();
                    starved.allowed = rank == victim ? allowed : unlimited;
                    bool failed = false;
                    try {
                        check(case_run);
                    } catch (std::bad_alloc const&) {
                        failed = true;
                        if (rank == victim) ran_out = true;
                    } catch (Error const& e) {
                        failed = true;
                        if (e.error_class != ErrorClass::no_mem) suite.fail(suite.cases[i], rank, e.what());
                        if (rank == victim) ran_out = true;
                    }
                    together.arrive_and_wait();
                    errors_returned += failed;
                    if (failed && !ran_out) suite.fail(suite.cases[i], rank, "failed though there was memory");
                    starved.allowed = unlimited;
                    if (arena) arena->begin(i);
                    check(case_run);
                    bool const more = ran_out;   // read before any rank begins again
                    together.arrive_and_wait();
                    if (!more) break;
                    if (rank == 0) ++tried;
                }
        }
    };
    run_as_ranks(shape.ranks, rank_body, [&] { return suite.describe(suite.cases[suite.at]); });
    report(suite);
    EXPECT_GT(static_cast<std::size_t>(tried) * thinning, suite.cases.size());
    EXPECT_GE(errors_returned, tried) << "fewer errors than refused allocations";
}

INSTANTIATE_TEST_SUITE_P(Worlds, MemoryRunsOut,
                         testing::Values(StarvedWorld{4, AccessPath::load_store, false},
                                         StarvedWorld{3, AccessPath::staged, false},
                                         StarvedWorld{5, AccessPath::cma, true}),
                         [](auto const& info) { return std::to_string(info.param.ranks) + "_ranks"; });

}   // namespace
}   // namespace tutti::coll::test
