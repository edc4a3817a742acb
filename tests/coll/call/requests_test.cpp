// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm as nonblocking and persistent requests, whole and in fragments, mixed with blocking calls. Several
// are in flight and complete in an order that differs from rank to rank.
#include <gmock/gmock.h>

#include <optional>

#include "coll/comm/create.hpp"
#include "tests/coll/world/overlapped_cases.hpp"
#include "tests/coll/world/window.hpp"

namespace tutti::coll::test {
namespace {

struct Circus {
    int ranks, hands;
    bool cma, arenas;
    std::size_t fragment;
};

std::string name_of(testing::TestParamInfo<Circus> const& info) {
    Circus const& c = info.param;
    return std::to_string(c.ranks) + "_ranks_" + std::to_string(c.hands) + "_in_flight_" + (c.arenas ? "arenas_" : "") +
           (c.cma ? "cma_" : "staged_") + (c.fragment == 0 ? "whole" : std::to_string(c.fragment) + "_a_fragment");
}

Variables variables(Circus const& c) {
    Variables v;
    v.wait = "shared";
    v.cma = c.cma;
    v.staging = 8192;
    v.fragment = c.fragment;
    v.fragments = 3;
    return v;
}

class Requests : public testing::TestWithParam<Circus> {};

TEST_P(Requests, AgreeWithPlainComputation) {
    Circus const circus = GetParam();
    Segment segment = Segment::create(static_cast<unsigned>(circus.ranks));
    if (circus.arenas && segment.layout().arena_bytes == 0)
        GTEST_SKIP() << "this system limits the length of files too much for the arenas";
    Suite suite(make_tree(circus.ranks, 1), Area(nullptr, circus.ranks).slot_bytes());
    add_cases(suite, static_cast<unsigned>(circus.ranks * 5 + circus.hands));
    run_ranks(suite, [&](int rank) {
        std::optional<Window> window;
        std::span<std::byte> arena;
        if (circus.arenas) arena = window.emplace(segment, rank).room.first(std::size_t{512} << 20);
        Process process(segment, static_cast<unsigned>(rank), variables(circus));
        std::vector<std::string> errors;
        initialize(process, errors);
        EXPECT_THAT(errors, testing::IsEmpty());
        Suite own(state_of(*process.world).trees.hierarchy, suite.slot_bytes);
        own.cases = suite.cases;
        run_overlapped_cases(*process.world, own, suite.at, rank, static_cast<std::size_t>(circus.hands), arena);
        std::lock_guard lock(suite.mutex);
        suite.failures.insert(suite.failures.end(), own.failures.begin(), own.failures.end());
        EXPECT_EQ(state_of(process).progress.in_flight(), 0);
    });
}

INSTANTIATE_TEST_SUITE_P(Worlds, Requests,
                         testing::Values(Circus{1, 3, true, false, 0}, Circus{2, 4, true, true, 0},
                                         Circus{2, 20, false, false, 4000}, Circus{3, 5, true, true, 20000},
                                         Circus{4, 12, true, false, 0}, Circus{5, 6, false, true, 10000}),
                         name_of);

/// The operations of which each nonblocking collective of 1 MiB consists, and the messages of rank 1 in the broadcast.
struct Cutting {
    char const* algorithm;
    std::uint64_t operations, messages;   ///< messages: 0 if they depend on more than fragments
};

TEST(Fragments, OfAnAlgorithmReplaceThoseOfTheSetting) {
    constexpr std::int64_t count = (1 << 20) / 4;
    for (Cutting const& expected :
         {Cutting{"cheetah:fragment=256K", 1, 4}, {"cheetah:fragment=64K,in_flight=8", 1, 16}, {"binomial", 8, 0}}) {
        Segment segment = Segment::create(2);
        Variables setting = variables({2, 1, true, false, 128 << 10});
        for (std::string* collective : {&setting.coll_bcast, &setting.coll_reduce, &setting.coll_allreduce})
            *collective = expected.algorithm;
        if (expected.operations > 1) setting.coll_allreduce = "recursive_doubling";
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < 2; ++rank)
            threads.emplace_back([&, rank] {
                Process process(segment, static_cast<unsigned>(rank), setting);
                std::vector<std::string> errors;
                initialize(process, errors);
                EXPECT_THAT(errors, testing::IsEmpty());
                Comm& comm = *process.world;
                auto const type = TypeBuilder::predefined(Basic::int32);
                Op sum;
                sum.builtin = BuiltinOp::sum;
                std::vector<int> in(count, rank + 1), out(count);
                auto const run = [&](auto const& call) {
                    std::uint64_t const before = state_of(comm).last_number;
                    Ref<Request> const request = start(call);
                    process.waiter.wait_until(
                        [&] { return request->complete || (request->advance(), request->complete); }, {"the test"});
                    EXPECT_EQ(state_of(comm).last_number - before, expected.operations) << expected.algorithm;
                };
                ReduceArgs reduction{};
                reduction.in = in.data();
                reduction.out = out.data();
                reduction.count = count;
                reduction.type = type.get();
                reduction.op = &sum;
                run(BoundCall{comm, Collective::reduce, reduction});
                if (rank == 0) { EXPECT_EQ(std::ranges::count(out, 3), count); }
                run(BoundCall{comm, Collective::allreduce, reduction});
                EXPECT_EQ(std::ranges::count(out, 3), count);
                auto const seen = [&] {
                    std::uint64_t all = 0;
                    for (Counter const& at_distance : process.rank_state().traffic.messages) all += at_distance.read();
                    return all;
                };
                std::uint64_t const before = seen();
                run(BoundCall{comm, Collective::bcast, BcastArgs{{}, {in.data(), count, type.get()}, 0}});
                EXPECT_EQ(std::ranges::count(in, 1), count);
                if (rank == 1 && expected.messages > 0) {
                    EXPECT_EQ(seen() - before, expected.messages) << expected.algorithm;
                }
            });
    }
}

TEST(PersistentRequests, UseTheCommunicatorsSequenceWhenHalfOfTheHeapIsTaken) {
    Segment segment = Segment::create(2);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank)
        threads.emplace_back([&, rank] {
            Process process(segment, static_cast<unsigned>(rank), variables({2, 1, true, false, 0}));
            std::vector<std::string> errors;
            initialize(process, errors);
            auto const type = TypeBuilder::predefined(Basic::int32);
            std::size_t& held = state_of(process).sequence_bytes;
            for (bool full : {false, true, false}) {
                int mine = rank + 5;
                BcastArgs args{};
                args.data = {&mine, 1, type.get()};
                std::size_t const before = std::exchange(held, full ? segment.layout().heap_bytes : 0);
                Ref<Request> request = init(BoundCall{*process.world, Collective::bcast, args});
                EXPECT_EQ(held > (full ? segment.layout().heap_bytes : 0), !full && rank == 0);
                for (int turn = 0; turn < 20; ++turn) {
                    if (rank == 0) mine = turn;
                    request->start();
                    process.waiter.wait_until(
                        [&] { return request->complete || (request->advance(), request->complete); }, {"the test"});
                    EXPECT_EQ(mine, turn);
                }
                request = {};
                EXPECT_EQ(held, full ? segment.layout().heap_bytes : 0);
                held = before;
            }
        });
    for (auto& t : threads) t.join();
}

}   // namespace
}   // namespace tutti::coll::test
