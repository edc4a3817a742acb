// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm in the environment of real programs: node segment, waiting, staging memory, arenas, CMA. The ranks
// are threads of this process, each with its own Process on one segment.
#include <gmock/gmock.h>

#include <optional>

#include "coll/call/collectives.hpp"
#include "coll/call/drive.hpp"
#include "coll/comm/create.hpp"
#include "tests/coll/world/calls.hpp"
#include "tests/coll/world/window.hpp"
#include "tests/coll/world/world.hpp"

namespace tutti::coll::test {
namespace {

Variables process_variables(bool cma) {
    Variables v;
    v.wait = "shared";
    v.cma = cma;
    v.staging = 8192;
    return v;
}

enum class Arenas { none, some };

void run_world(int ranks, bool cma, Arenas arenas) {
    Segment segment = Segment::create(static_cast<unsigned>(ranks));
    if (arenas == Arenas::some && segment.layout().arena_bytes == 0)
        GTEST_SKIP() << "this system limits the length of files too much for the arenas";
    Suite suite(make_tree(ranks, 1), Area(nullptr, ranks).slot_bytes());
    add_cases(suite, static_cast<unsigned>(ranks * 3 + cma + 7 * static_cast<int>(arenas)));
    run_ranks(suite, [&](int rank) {
        std::optional<Window> window;
        std::optional<Arena> arena;
        if (arenas == Arenas::some) {
            window.emplace(segment, rank);
            arena.emplace(window->room.first(64 << 20), rank, ranks);
        }
        Process process(segment, static_cast<unsigned>(rank), process_variables(cma));
        std::vector<std::string> errors;
        initialize(process, errors);
        EXPECT_THAT(errors, testing::IsEmpty());
        Comm const& comm = *process.world;
        auto const execute = [&](AlgorithmRow const& row, AnyArgs args) {
            expect_suits(state_of(comm), row, args);
            drive_algorithm(comm, row, args);
        };
        run_cases(suite, rank, execute, arena ? &*arena : nullptr);
    });
}

TEST(Processes, OneRank) { run_world(1, true, Arenas::none); }
TEST(Processes, OneRankWithAnArena) { run_world(1, true, Arenas::some); }
TEST(Processes, TwoRanksWithCma) { run_world(2, true, Arenas::none); }
TEST(Processes, TwoRanksWithArenasAndCma) { run_world(2, true, Arenas::some); }
TEST(Processes, ThreeRanksStaged) { run_world(3, false, Arenas::none); }
TEST(Processes, ThreeRanksWithArenasElseStaged) { run_world(3, false, Arenas::some); }
TEST(Processes, FiveRanksWithCma) { run_world(5, true, Arenas::none); }
TEST(Processes, FiveRanksWithArenasAndCma) { run_world(5, true, Arenas::some); }

Task reach(ShmEnv& env, std::uint64_t address, bool& fetched, bool& put) {
    char here[8] = {};
    fetched = env.fetch(0, address, here, sizeof here);
    put = env.put(0, address, here, sizeof here);
    co_return;
}

TEST(Processes, MemoryThatTheKernelDoesNotCopyIsRefusedWithoutAnError) {
    Segment segment = Segment::create(1);
    Process process(segment, 0, process_variables(true));
    std::vector<std::string> errors;
    initialize(process, errors);
    char there[8] = {};
    bool fetched = true, put = true;
    drive(*process.world, "test", [&](ShmEnv& env) { return reach(env, 4096, fetched, put); });
    EXPECT_FALSE(fetched);
    EXPECT_FALSE(put);
    process.single_copy.expose(there, sizeof there);   // no rank tries CMA with a rank that has not exposed memory
    drive(*process.world, "test",
          [&](ShmEnv& env) { return reach(env, reinterpret_cast<std::uint64_t>(there), fetched, put); });
    EXPECT_EQ(fetched, process.single_copy.cma());
    EXPECT_EQ(put, process.single_copy.cma());
}

Task await_a_publish_that_never_comes(ShmEnv& env) {
    if (env.rank() == 1) co_await env.until(0, 3);
}

/// The cause is the algorithm, not the program: all ranks are in the same call or have left it.
TEST(Processes, AFlagThatIsNeverWrittenIsNamedWithItsAlgorithm) {
    Segment segment = Segment::create(2);
    auto const body = [&](int rank) {
        Process process(segment, static_cast<unsigned>(rank), process_variables(true));
        std::vector<std::string> errors;
        initialize(process, errors);
        CommState& state = state_of(*process.world);
        state.counters_of(Collective::bcast).begin(&all_algorithms().front());
        drive(*process.world, "bcast", await_a_publish_that_never_comes);
        if (rank == 1) return;
        Blocked const& blocked = segment.rank_state(1).blocked;
        while (blocked.changes.load() % 2 == 0 || text_in(blocked.thread[0].error.code).empty())
            std::this_thread::yield();
        EXPECT_EQ(text_in(blocked.thread[0].error.code), "T21");
        EXPECT_EQ(text_in(blocked.thread[0].error.headline),
                  std::string("waits in algorithm ") + all_algorithms().front().name +
                      " of bcast until flag 'publish' of rank 0 reaches step 3; it is at 0");
        state.area.channel(0, 1).cell.stamp.store(stamp(1, 3));   // releases the other rank
        process.waiter.wake_sleepers();
    };
    std::thread waiting(body, 1);
    body(0);
    waiting.join();
}

/// The kernel copies from the gaps of one rank to those of another; nothing is staged.
TEST(Processes, KnemCopiesSegmentsThroughTheKernel) {
    constexpr int ranks = 3;
    constexpr std::int64_t blocks = 5000;
    Segment segment = Segment::create(ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            Process process(segment, static_cast<unsigned>(rank), process_variables(true));
            std::vector<std::string> errors;
            initialize(process, errors);
            std::vector<std::string> diagnostics;
            Setting const setting = parse_setting(Collective::bcast, "knem_linear:through=kernel", "test", diagnostics);
            EXPECT_THAT(diagnostics, testing::IsEmpty());
            auto const type =
                TypeBuilder::hvector(blocks, 4, rank == 1 ? 24 : 20, *TypeBuilder::predefined(Basic::int32));
            std::vector<int> data(blocks * 6), expected(data);
            std::vector<int> packed(blocks * 4);
            for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = static_cast<int>(i);
            type->unpack(expected.data(), 1, 0, packed.data(), 4 * packed.size());
            if (rank == 0) data = expected;
            BcastArgs args{};
            args.data = {data.data(), 1, type.get()};
            args.parameters = setting.values;
            drive_algorithm(*process.world, *setting.algorithm, args);
            EXPECT_EQ(data, expected);
            if (!process.single_copy.cma()) return;   // the system forbids it here
            EXPECT_EQ(process.rank_state().counters.cma.read(), rank == 0 ? 0u : 16u * blocks);
            EXPECT_EQ(process.rank_state().counters.staged.read(), 0u);
        });
    for (auto& t : threads) t.join();
}

TEST(Processes, CmaRefusedInMidRun) {
    Segment segment = Segment::create(2);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank)
        threads.emplace_back([&, rank] {
            Process process(segment, static_cast<unsigned>(rank), process_variables(true));
            std::vector<std::string> errors;
            initialize(process, errors);
            auto type = TypeBuilder::predefined(Basic::int32);
            std::vector<int> mine(50000), all(100000);
            for (int turn = 0; turn < 20; ++turn) {
                for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = static_cast<int>(i) * 2 + rank + turn;
                if (turn == 10 && rank == 1) segment.header().cma_forbidden = 1;   // at any time in rank 0's view
                AllgatherArgs args{};
                args.mine = {mine.data(), 50000, type.get()};
                args.parts = Parts::regular(all.data(), 50000, *type);
                args.max_part_bytes = 200000;
                execute(BoundCall{*process.world, Collective::allgather, args});
                for (std::size_t i = 0; i < mine.size(); ++i) {
                    ASSERT_EQ(all[i], static_cast<int>(i) * 2 + turn);
                    ASSERT_EQ(all[i + 50000], static_cast<int>(i) * 2 + 1 + turn);
                }
            }
        });
    for (auto& t : threads) t.join();
}

}   // namespace
}   // namespace tutti::coll::test
