// SPDX-License-Identifier: BSD-3-Clause
// RG moves exactly the published volume (YHCCL, tables 2 and 3): bytes loaded and stored by all ranks, where the number
// of ranks is a power of k + 1.
#include <gtest/gtest.h>

#include "coll/blocks/reducer.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/threads/ranks.hpp"
#include "tests/coll/threads/thread_algorithms.hpp"

namespace tutti::coll::test {
namespace {

std::uint64_t moved_by(Collective collective, int ranks, std::size_t degree, std::int64_t count, std::size_t slice) {
    AlgorithmRow const& rg = row_of(collective, "rg");
    Values values = defaults(rg).values;
    values.set(1, degree);
    values.set(2, slice);
    auto const type = TypeBuilder::predefined(Basic::float64);
    ThreadWorld world(ranks, topo::Hierarchy::build(ranks, {}));
    run_as_ranks(ranks, [&](int rank) {
        FramePool frames;
        auto const sum = Ref<Op>::adopt(new Op);
        sum->builtin = BuiltinOp::sum;
        std::vector<double> in(static_cast<std::size_t>(count), rank), out(in.size(), -1);
        ReduceArgs args{};
        args.in = in.data();
        args.out = out.data();
        args.count = count;
        args.type = type.get();
        args.op = sum.get();
        args.parameters = values;
        find_kernels(args);
        run(world, rank, 1, frames, rg, args);
        bool const gets = collective == Collective::allreduce || rank == 0;
        EXPECT_EQ(out.back(), gets ? ranks * (ranks - 1) / 2 : -1);
    });
    std::uint64_t bytes = 0;
    for (Traffic const& t : world.traffic) bytes += t.loaded.read() + t.stored.read();
    return bytes;
}

/// p · (5k/(k + 1) + 3k/(k + 1)² + … + 3k/p), in integer arithmetic.
std::uint64_t published_of_rg(std::uint64_t p, std::uint64_t k) {
    std::uint64_t sum = 5 * k * p / (k + 1);
    for (std::uint64_t group = (k + 1) * (k + 1); group <= p; group *= k + 1) sum += 3 * k * p / group;
    return sum;
}

TEST(RgTree, MovesThePublishedVolumeOfRg) {
    constexpr std::int64_t count = 3000;
    constexpr std::uint64_t s = count * 8;
    for (auto [p, k] : {std::pair{9, 2}, {3, 2}, {8, 1}, {16, 3}, {5, 4}})
        for (std::size_t slice : {131072, 800}) {
            auto const ranks = static_cast<std::uint64_t>(p);
            auto const degree = static_cast<std::size_t>(k);
            EXPECT_EQ(moved_by(Collective::reduce, p, degree, count, slice), s * published_of_rg(ranks, degree));
            EXPECT_EQ(moved_by(Collective::allreduce, p, degree, count, slice),
                      s * (published_of_rg(ranks, degree) + 2 * ranks));
        }
}

}   // namespace
}   // namespace tutti::coll::test
