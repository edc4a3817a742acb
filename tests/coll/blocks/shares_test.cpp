// SPDX-License-Identifier: BSD-3-Clause
// Offsets of the shares of a reduce_scatter whose int counts add up to more than an int holds.
#include <gtest/gtest.h>

#include "coll/blocks/reducer.hpp"
#include "coll/blocks/sliced.hpp"
#include "runtime/datatype/builder.hpp"

namespace tutti::coll::test {
namespace {

TEST(Shares, AreConsecutiveWhenTheirCountsExceedAnInt) {
    int const counts[] = {1'500'000'000, 1'200'000'000, 7};
    auto const byte = TypeBuilder::predefined(Basic::byte_);
    ReduceScatterArgs args{};
    args.type = byte.get();
    args.count = 2'700'000'007;
    args.counts = counts;

    FramePool frames;
    Shares const shares(args, frames);
    EXPECT_EQ(shares.start(1), 1'500'000'000u);
    EXPECT_EQ(shares.start(2), 2'700'000'000u);
    EXPECT_EQ(shares.end(2), 2'700'000'007u);
    EXPECT_EQ(shares.bytes(2), 7u);

    Slices const slices(args, 3, 1 << 20);
    EXPECT_EQ(slices.position(1, 0), 1'500'000'000u);
    EXPECT_EQ(slices.bytes(1, 1), std::size_t{1} << 20);
    EXPECT_EQ(slices.position(2, 0), 2'700'000'000u);
    EXPECT_EQ(slices.bytes(2, 0), 7u);
    EXPECT_EQ(slices.bytes(2, 1), 0u);
}

}   // namespace
}   // namespace tutti::coll::test
