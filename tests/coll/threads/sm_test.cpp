// SPDX-License-Identifier: BSD-3-Clause
// Open MPI's coll/sm: segments are reused by many groups, whose atomic counters begin anew in each operation; and the
// messages of its tree, which does not follow the machine's levels.
#include <gtest/gtest.h>

#include <numeric>

#include "runtime/datatype/builder.hpp"
#include "tests/coll/threads/ranks.hpp"
#include "tests/coll/threads/thread_algorithms.hpp"
#include "tests/coll/world/world.hpp"

namespace tutti::coll::test {
namespace {

Setting setting_of(Collective collective, std::string const& text) {
    std::vector<std::string> diagnostics;
    Setting const setting = parse_setting(collective, text, "test", diagnostics);
    EXPECT_TRUE(diagnostics.empty()) << diagnostics.front();
    return setting;
}

TEST(Sm, ReusesSegmentsInEveryGroupAndOperation) {
    constexpr std::int64_t count = 300;
    for (int ranks : {2, 3, 6, 13})
        for (char const* parameters : {"fragment=64,segments=2,degree=1", "fragment=64,segments=3,degree=2",
                                       "fragment=192,segments=6,degree=4"}) {
            Setting const bcast = setting_of(Collective::bcast, join("sm:", parameters)),
                          allreduce = setting_of(Collective::allreduce, join("sm:", parameters));
            ThreadWorld world(ranks, make_tree(ranks, 1), AccessPath::staged, 1024);
            run_as_ranks(ranks, [&](int rank) {
                auto const type = TypeBuilder::predefined(Basic::int32);
                Op sum;
                sum.builtin = BuiltinOp::sum;
                FramePool frames;
                std::uint64_t op = 0;
                for (int root : {0, ranks - 1, ranks / 2, 0, 1}) {
                    std::vector<int> data(count), total(count), expected(count);
                    std::iota(expected.begin(), expected.end(), root);
                    if (rank == root) data = expected;
                    BcastArgs broadcast{};
                    broadcast.data = {data.data(), count, type.get()};
                    broadcast.root = root;
                    broadcast.parameters = bcast.values;
                    coll::run(world, rank, ++op, frames, *bcast.algorithm, broadcast);
                    EXPECT_EQ(data, expected) << parameters;

                    ReduceArgs reduction{};
                    reduction.in = data.data();
                    reduction.out = total.data();
                    reduction.count = count;
                    reduction.type = type.get();
                    reduction.op = &sum;
                    find_kernels(reduction);
                    reduction.parameters = allreduce.values;
                    coll::run(world, rank, ++op, frames, *allreduce.algorithm, reduction);
                    for (int& x : expected) x *= ranks;
                    EXPECT_EQ(total, expected) << parameters;
                }
            });
        }
}

/// One message per rank and fragment, from its parent: of 5 ranks with degree 2, rank 0 is that of 1 and 3, rank 1 that
/// of 2, and rank 3 that of 4.
TEST(Sm, PassesFragmentsDownItsTree) {
    Setting const bcast = setting_of(Collective::bcast, "sm:fragment=1K,degree=2");
    ThreadWorld world(5, make_tree(5, 2));
    world.locality = [](int from, int to) {
        bool const related = (to == 0 && (from == 1 || from == 3)) || (to == 1 && from == 2) || (to == 3 && from == 4);
        return related ? topo::Locality::cache : topo::Locality::network;
    };
    auto const type = TypeBuilder::predefined(Basic::byte_);
    run_as_ranks(5, [&](int rank) {
        FramePool frames;
        std::vector<std::byte> data(4096);
        BcastArgs args{};
        args.data = {data.data(), 4096, type.get()};
        args.parameters = bcast.values;
        coll::run(world, rank, 1, frames, *bcast.algorithm, args);
    });
    for (int rank = 0; rank < 5; ++rank) {
        Traffic const& traffic = world.traffic[static_cast<std::size_t>(rank)];
        EXPECT_EQ(traffic.messages[static_cast<int>(topo::Locality::cache)].read(), rank == 0 ? 0u : 4u) << rank;
        EXPECT_EQ(traffic.messages[static_cast<int>(topo::Locality::network)].read(), 0u) << rank;
    }
}

}   // namespace
}   // namespace tutti::coll::test
