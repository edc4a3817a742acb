// SPDX-License-Identifier: BSD-3-Clause
// Algorithms that need buffers which peers can load and store: they run as described, or all ranks refuse, naming the
// same owner. XHC's reductions agree on that in their first operations only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "runtime/datatype/builder.hpp"
#include "tests/coll/threads/ranks.hpp"
#include "tests/coll/threads/thread_algorithms.hpp"
#include "tests/coll/world/world.hpp"

namespace tutti::coll::test {
namespace {

constexpr int allreduce_ranks = 5;
constexpr std::int64_t doubles = 1000;

/// A world in which memory is staged unless it lies in the arena, with an operand and a result for each rank.
struct AllreduceWorld {
    explicit AllreduceWorld(int levels, int outsider = -1)
        : shared(allreduce_ranks, make_tree(allreduce_ranks, levels), AccessPath::staged) {
        shared.arena = std::as_bytes(std::span(in_arena));
        shared.on_wait = [this](int, int) { ++waits; };
        for (int rank = 0; rank < allreduce_ranks; ++rank)
            for (std::vector<double>* buffers : {&in_arena, &elsewhere})
                std::fill_n(buffers->data() + rank * 2 * doubles, doubles, rank + 1.0);
        outsider_ = outsider;
    }
    double* operand(int rank) { return (rank == outsider_ ? elsewhere : in_arena).data() + rank * 2 * doubles; }
    double* result(int rank) { return operand(rank) + doubles; }

    /// Runs an allreduce, and checks the results.
    void allreduce(std::uint64_t op, AlgorithmRow const& row) {
        Setting const setting = defaults(row);
        waits = 0;
        run_as_ranks(allreduce_ranks, [&](int rank) {
            auto const type = TypeBuilder::predefined(Basic::float64);
            Op sum;
            sum.builtin = BuiltinOp::sum;
            FramePool frames;
            ReduceArgs args{};
            args.in = operand(rank);
            args.out = result(rank);
            args.count = doubles;
            args.type = type.get();
            args.op = &sum;
            find_kernels(args);
            args.parameters = setting.values;
            coll::run(shared, rank, op, frames, row, args);
        });
        for (int rank = 0; rank < allreduce_ranks; ++rank)
            EXPECT_EQ(std::accumulate(result(rank), result(rank) + doubles, 0.0),
                      doubles * allreduce_ranks * (allreduce_ranks + 1) / 2.0);
    }

    std::vector<double> in_arena = std::vector<double>(allreduce_ranks * 2 * doubles), elsewhere = in_arena;
    ThreadWorld shared;
    std::atomic<int> waits = 0;

private:
    int outsider_;
};

TEST(Refusal, NamesTheSameOwnerAtAllRanks) {
    for (AlgorithmRow const& row : all_algorithms()) {
        if (row.collective != Collective::allreduce || !(row.requirements & buffer_requirements)) continue;
        for (int outsider : {-1, 0, 3}) {
            AllreduceWorld world(1, outsider);
            world.allreduce(1, row);
            // XHC's allreduce stages a single buffer that peers cannot load, see below.
            int const expected = row.family == Family::xhc ? -1 : outsider;
            EXPECT_THAT(world.shared.refused_for, testing::Each(expected)) << row.name;
        }
    }
}

TEST(XhcReduction, AgreesOnlyInTheFirstOperations) {
    for (int outsider : {-1, 2}) {
        AllreduceWorld world(1, outsider);
        std::vector<int> waits;
        for (std::uint64_t op = 1; op <= 2 * channel_depth; ++op) {
            world.allreduce(op, row_of(Collective::allreduce, "xhc"));
            waits.push_back(world.waits);
        }
        std::span const all(waits), first = all.first(channel_depth), later = all.subspan(channel_depth);
        EXPECT_THAT(first, testing::Each(first[0]));
        EXPECT_THAT(later, testing::Each(later[0]));
        EXPECT_LE(later[0] + allreduce_ranks, first[0]) << "each rank waits at least once for the agreement";
        EXPECT_THAT(world.shared.loading_agreed, testing::Each(1));
    }
}

/// Only a buffer that peers cannot load is staged.
TEST(XhcReduction, StagesOnlyTheBuffersThatPeersCannotLoad) {
    auto const moved = [](int outsider) {
        AllreduceWorld world(1, outsider);
        world.allreduce(1, row_of(Collective::allreduce, "xhc"));
        std::uint64_t bytes = 0;
        for (Traffic const& t : world.shared.traffic) bytes += t.loaded.read() + t.stored.read();
        return bytes;
    };
    EXPECT_EQ(moved(2), moved(-1) + 2 * doubles * sizeof(double));
}

}   // namespace
}   // namespace tutti::coll::test
