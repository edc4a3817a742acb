// SPDX-License-Identifier: BSD-3-Clause
// Cheetah on one node: its schedules are built once for each shape of call, its recursive k-ing reads from the partners
// of figure 5, each level has the messages of its tree, and fragments have the size that was asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "coll/blocks/reducer.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/threads/ranks.hpp"
#include "tests/coll/threads/thread_algorithms.hpp"

namespace tutti::coll::test {
namespace {

using Pairs = std::map<std::pair<int, int>, int>;   // messages by reader and sender

class CheetahWorld {
public:
    explicit CheetahWorld(topo::Hierarchy tree, std::size_t staging = 1 << 16)
        : ranks_(tree.size()), shared_(ranks_, std::move(tree), AccessPath::load_store, staging) {
        shared_.locality = [this](int from, int to) {
            std::lock_guard const lock(mutex_);
            ++messages_[{from, to}];
            return topo::Locality::cache;
        };
    }

    /// Runs one call with `count` integers per rank, and checks the result. Returns its messages.
    Pairs call(Collective collective, std::string_view algorithm, std::string_view parameters, std::int64_t count,
               int root = 0) {
        AlgorithmRow const& row = row_of(collective, algorithm);
        Setting setting = defaults(row);
        std::vector<std::string> diagnostics;
        parse_parameters(parameters, setting, "the test", diagnostics);
        EXPECT_THAT(diagnostics, testing::IsEmpty());
        messages_.clear();
        ++op_;
        run_as_ranks(ranks_, [&](int rank) {
            auto const type = TypeBuilder::predefined(Basic::int32);
            Op sum;
            sum.builtin = BuiltinOp::sum;
            FramePool frames;
            std::vector<int> in(static_cast<std::size_t>(count), rank + 1), out(in.size());
            int expected = ranks_ * (ranks_ + 1) / 2;
            if (collective == Collective::bcast) {
                BcastArgs args{};
                args.data = {in.data(), count, type.get()};
                args.root = root, expected = root + 1;
                args.parameters = setting.values;
                coll::run(shared_, rank, op_, frames, row, args);
                out = in;
            } else {
                ReduceArgs args{};
                args.in = in.data();
                args.out = out.data();
                args.count = count;
                args.type = type.get();
                args.op = &sum;
                args.root = root;
                find_kernels(args);
                args.parameters = setting.values;
                coll::run(shared_, rank, op_, frames, row, args);
            }
            if (collective == Collective::reduce && rank != root) return;
            EXPECT_EQ(std::ranges::count(out, expected), count) << algorithm << ", rank " << rank;
        });
        return messages_;
    }
    std::size_t plans_made(int rank) const { return shared_.plans[static_cast<std::size_t>(rank)].made(); }

private:
    int ranks_;
    ThreadWorld shared_;
    std::mutex mutex_;   // under ThreadSanitizer, ranks are threads
    Pairs messages_;
    std::uint64_t op_ = 0;
};

topo::Hierarchy one_team_of(int ranks) { return topo::Hierarchy::build(ranks, {}); }
topo::Hierarchy tree_of_sockets(int ranks, int each) {
    topo::Grouping by_socket{"socket", {}};
    for (int r = 0; r < ranks; ++r) by_socket.group.push_back(r / each);
    return topo::Hierarchy::build(ranks, std::span(&by_socket, 1));
}
int all_messages(Pairs const& pairs) {
    int sum = 0;
    for (auto const& [pair, messages] : pairs) sum += messages;
    return sum;
}

TEST(CheetahSchedules, AreBuiltAtTheFirstCallOfEachShape) {
    CheetahWorld world(tree_of_sockets(6, 3));
    for (int i = 0; i < 5; ++i) world.call(Collective::allreduce, "cheetah", "", 10 + 10'000 * i);
    EXPECT_EQ(world.plans_made(0), 1u);
    for (int i = 0; i < 2; ++i) world.call(Collective::allreduce, "cheetah", "radix=2", 10);
    EXPECT_EQ(world.plans_made(5), 2u);
    for (int i = 0; i < 2; ++i)   // a fixed order: one for each root
        for (int root = 0; root < 6; ++root) world.call(Collective::bcast, "cheetah", "", 10, root);
    EXPECT_EQ(world.plans_made(5), 2u + 6u);
}

TEST(CheetahSchedules, AreReplacedWhenThereAreTooMany) {
    CheetahWorld world(one_team_of(2));
    for (int repeat = 0; repeat < 2; ++repeat)
        for (std::size_t k = 0; k <= Plans::max_kept; ++k)
            world.call(Collective::bcast, "cheetah", "large=" + std::to_string(100 + k), 1);
    EXPECT_EQ(world.plans_made(0), 2 * (Plans::max_kept + 1));
}

/// Figure 5, with integers, for which the order of the operands makes no difference.
TEST(RecursiveKIng, ReadsFromThePartnersOfFigure5) {
    CheetahWorld world(one_team_of(9));
    Pairs const messages = world.call(Collective::allreduce, "recursive_k_ing", "k=3", 4);
    EXPECT_EQ(messages.size(), 36u);
    for (int x = 0; x < 9; ++x)
        for (int distance : {1, 2, 3, 6}) EXPECT_EQ(messages.count({x, (x + distance) % 9}), 1u) << x;
    Pairs const in_groups = world.call(Collective::allreduce, "recursive_k_ing", "k=3,partners=groups", 4);
    for (auto const& [pair, count] : in_groups)
        EXPECT_TRUE(pair.first / 3 == pair.second / 3 || pair.first % 3 == pair.second % 3);
}

/// Two sockets of eight ranks: fan-in and fan-out inside, one exchange between.
TEST(Cheetah, HasTheMessagesOfItsTreesOnEachLevel) {
    CheetahWorld world(tree_of_sockets(16, 8));
    auto const between = [](Pairs const& pairs) {
        Pairs crossing = pairs;
        std::erase_if(crossing, [](auto const& p) { return p.first.first / 8 == p.first.second / 8; });
        return all_messages(crossing);
    };
    Pairs const allreduce = world.call(Collective::allreduce, "cheetah", "", 4);
    EXPECT_EQ(all_messages(allreduce), 2 * 7 + 2 * 7 + 2);
    EXPECT_EQ(between(allreduce), 2);
    for (int root : {0, 5, 8, 15}) {
        Pairs const reduce = world.call(Collective::reduce, "cheetah", "", 4, root);
        EXPECT_EQ(all_messages(reduce), 15);
        EXPECT_EQ(between(reduce), 1);
        int busiest = 0;   // a binary tree, and the leader of the other socket
        for (int r = 0; r < 16; ++r)
            busiest = std::max(busiest, static_cast<int>(std::ranges::count_if(
                                            reduce, [r](auto const& p) { return p.first.first == r; })));
        EXPECT_LE(busiest, 3);
        Pairs const bcast = world.call(Collective::bcast, "cheetah", "", 4, root);
        EXPECT_EQ(all_messages(bcast), 15);
        EXPECT_EQ(between(bcast), 1);
    }
}

/// Staging memory of 4 KiB grows, and `large` decides which messages are cut.
TEST(Cheetah, CutsIntoTheFragmentsThatWereAskedFor) {
    CheetahWorld world(one_team_of(2), 4096);
    std::int64_t const count = (1 << 20) / 4;
    for (auto [parameters, fragments] : {std::pair{"fragment=256K", 4},
                                         {"fragment=64K,in_flight=8", 16},
                                         {"large=1M", 1},
                                         {"large=1M,fragment=64K", 1},
                                         {"", 32}}) {
        EXPECT_EQ(all_messages(world.call(Collective::reduce, "cheetah", parameters, count)), fragments) << parameters;
        EXPECT_EQ(all_messages(world.call(Collective::bcast, "cheetah", parameters, count)), fragments) << parameters;
        EXPECT_EQ(all_messages(world.call(Collective::allreduce, "cheetah", parameters, count)), 2 * fragments)
            << parameters;
    }
}

}   // namespace
}   // namespace tutti::coll::test
