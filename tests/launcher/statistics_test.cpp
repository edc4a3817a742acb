// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::launcher {
namespace {

using testing::ContainsRegex;

TEST(Statistics, words_for_sizes) {
    EXPECT_EQ(size_words(0), "0");
    EXPECT_EQ(size_words(1023), "1023 B");
    EXPECT_EQ(size_words(1536), "1.5 KiB");
    EXPECT_EQ(size_words(std::uint64_t{3} << 30), "3.0 GiB");
    EXPECT_EQ(size_words(~std::uint64_t{0}), "16384.0 PiB");
}

TEST(Statistics, a_line_for_each_rank_and_one_for_all) {
    Segment segment = Segment::create(2);
    segment.card(0).counters.direct.add(1 << 20);
    segment.card(1).counters.direct.add(1 << 19);
    segment.card(1).counters.direct.add(1 << 19);
    segment.card(1).counters.cma.add(100);
    segment.card(1).counters.hits.add(7);
    std::string const table = statistics(segment);
    EXPECT_THAT(table, ContainsRegex("rank +arenas +XPMEM +CMA +staged +maps +hits"));
    EXPECT_THAT(table, ContainsRegex("\n +0 +1.0 MiB +0 +0 +0 +0 +0 +0 +0\n"));
    EXPECT_THAT(table, ContainsRegex("\n +1 +1.0 MiB +0 +100 B +0 +0 +7 +0 +0\n"));
    EXPECT_THAT(table, ContainsRegex("\n +all +2.0 MiB +0 +100 B +0 +0 +7 +0 +0\n"));
}

}  // namespace
}  // namespace tutti::launcher
