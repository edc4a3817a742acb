// SPDX-License-Identifier: BSD-3-Clause
// Call statistics: one row per combination of texts, truncated texts, and the sum of calls without a row.
#include "runtime/state/call_statistics.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "runtime/memory/segment.hpp"

namespace tutti {
namespace {

TEST(CallStatistics, HasOneRowPerCombinationOfTexts) {
    Segment segment = Segment::create(2);
    CallStatistics& call_statistics = segment.call_statistics(1);
    EXPECT_TRUE(call_statistics.rows().empty());
    CallStatisticsRow& first = call_statistics.row("MPI_COMM_WORLD", 2, "bcast", "slots");
    EXPECT_EQ(&call_statistics.row("MPI_COMM_WORLD", 2, "bcast", "slots"), &first);
    for (CallStatisticsRow* other : {&call_statistics.row("mine", 2, "bcast", "slots"),
                                     &call_statistics.row("MPI_COMM_WORLD", 1, "bcast", "slots"),
                                     &call_statistics.row("MPI_COMM_WORLD", 2, "reduce", "slots"),
                                     &call_statistics.row("MPI_COMM_WORLD", 2, "bcast", "hierarchical")})
        EXPECT_NE(other, &first);
    EXPECT_EQ(call_statistics.rows().size(), 5u);
    EXPECT_TRUE(segment.call_statistics(0).rows().empty()) << "the statistics of another rank";
    EXPECT_STREQ(first.communicator, "MPI_COMM_WORLD");
    EXPECT_STREQ(first.algorithm, "slots");
    EXPECT_EQ(first.ranks, 2);
}

TEST(CallStatistics, AccumulatesCalls) {
    Segment segment = Segment::create(1);
    CallStatisticsRow& row = segment.call_statistics(0).row("", 1, "bcast", "slots");
    row.record(100, 7);
    row.record(50, 9);
    row.record(0, 3);
    EXPECT_EQ(row.calls.read(), 3u);
    EXPECT_EQ(row.bytes.read(), 150u);
    EXPECT_EQ(row.time.read(), 19u);
    EXPECT_EQ(row.longest.read(), 9u);
}

TEST(CallStatistics, TruncatesLongTexts) {
    Segment segment = Segment::create(1);
    CallStatistics& call_statistics = segment.call_statistics(0);
    std::string const name(40, 'n'), algorithm(300, 'a');
    CallStatisticsRow& row = call_statistics.row(name, 1, "a collective with a long name", algorithm);
    EXPECT_EQ(row.communicator, name.substr(0, 31));
    EXPECT_EQ(row.collective, std::string("a collective with a long name").substr(0, sizeof row.collective - 1));
    EXPECT_EQ(row.algorithm, algorithm.substr(0, sizeof row.algorithm - 1));
    EXPECT_EQ(&call_statistics.row(name + "more", 1, "a collective with a long name", algorithm), &row)
        << "texts that differ only in the truncated part share a row";
}

TEST(CallStatistics, SumsCallsWithoutARow) {
    Segment segment = Segment::create(1);
    CallStatistics& call_statistics = segment.call_statistics(0);
    for (std::size_t i = 0; i < CallStatistics::capacity; ++i)
        call_statistics.row(std::to_string(i), 1, "bcast", "slots").record(1, 1);
    EXPECT_EQ(call_statistics.other_calls().calls.read(), 0u);
    call_statistics.row("one more", 1, "bcast", "slots").record(5, 2);
    call_statistics.row("and another", 3, "reduce", "blocks").record(6, 4);
    call_statistics.row("7", 1, "bcast", "slots").record(1, 1);
    EXPECT_EQ(call_statistics.rows().size(), CallStatistics::capacity);
    EXPECT_EQ(call_statistics.other_calls().calls.read(), 2u);
    EXPECT_EQ(call_statistics.other_calls().bytes.read(), 11u);
    EXPECT_EQ(call_statistics.rows()[7].calls.read(), 2u) << "existing rows are still found";
}

}   // namespace
}   // namespace tutti
