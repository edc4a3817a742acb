// SPDX-License-Identifier: BSD-3-Clause
// The call statistics: one line for equal texts, texts cut to their room, what does not fit goes to the others.
#include "runtime/state/call_statistics.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "runtime/memory/segment.hpp"

namespace tutti {
namespace {

TEST(CallStatistics, HasOneLineForEachCombinationOfTexts) {
    Segment segment = Segment::create(2);
    CallStatistics& call_statistics = segment.call_statistics(1);
    EXPECT_TRUE(call_statistics.lines().empty());
    CallStatisticsRow& first = call_statistics.line("MPI_COMM_WORLD", 2, "bcast", "slots");
    EXPECT_EQ(&call_statistics.line("MPI_COMM_WORLD", 2, "bcast", "slots"), &first);
    for (CallStatisticsRow* other : {&call_statistics.line("mine", 2, "bcast", "slots"),
                                     &call_statistics.line("MPI_COMM_WORLD", 1, "bcast", "slots"),
                                     &call_statistics.line("MPI_COMM_WORLD", 2, "reduce", "slots"),
                                     &call_statistics.line("MPI_COMM_WORLD", 2, "bcast", "hierarchical")})
        EXPECT_NE(other, &first);
    EXPECT_EQ(call_statistics.lines().size(), 5u);
    EXPECT_TRUE(segment.call_statistics(0).lines().empty()) << "another rank's";
    EXPECT_STREQ(first.communicator, "MPI_COMM_WORLD");
    EXPECT_STREQ(first.algorithm, "slots");
    EXPECT_EQ(first.ranks, 2);
}

TEST(CallStatistics, AddsCallsUp) {
    Segment segment = Segment::create(1);
    CallStatisticsRow& line = segment.call_statistics(0).line("", 1, "bcast", "slots");
    line.note(100, 7);
    line.note(50, 9);
    line.note(0, 3);
    EXPECT_EQ(line.calls.read(), 3u);
    EXPECT_EQ(line.bytes.read(), 150u);
    EXPECT_EQ(line.time.read(), 19u);
    EXPECT_EQ(line.longest.read(), 9u);
}

TEST(CallStatistics, CutsTextsThatAreTooLong) {
    Segment segment = Segment::create(1);
    CallStatistics& call_statistics = segment.call_statistics(0);
    std::string const name(40, 'n'), algorithm(300, 'a');
    CallStatisticsRow& line = call_statistics.line(name, 1, "a collective with a long name", algorithm);
    EXPECT_EQ(line.communicator, name.substr(0, 31));
    EXPECT_EQ(line.collective, std::string("a collective with a long name").substr(0, sizeof line.collective - 1));
    EXPECT_EQ(line.algorithm, algorithm.substr(0, sizeof line.algorithm - 1));
    EXPECT_EQ(&call_statistics.line(name + "more", 1, "a collective with a long name", algorithm), &line)
        << "what is told apart by what was cut off shares a line";
}

TEST(CallStatistics, SumsUpWhatItHasNoLineFor) {
    Segment segment = Segment::create(1);
    CallStatistics& call_statistics = segment.call_statistics(0);
    for (std::size_t i = 0; i < CallStatistics::room; ++i)
        call_statistics.line(std::to_string(i), 1, "bcast", "slots").note(1, 1);
    EXPECT_EQ(call_statistics.others().calls.read(), 0u);
    call_statistics.line("one more", 1, "bcast", "slots").note(5, 2);
    call_statistics.line("and another", 3, "reduce", "blocks").note(6, 4);
    call_statistics.line("7", 1, "bcast", "slots").note(1, 1);
    EXPECT_EQ(call_statistics.lines().size(), CallStatistics::room);
    EXPECT_EQ(call_statistics.others().calls.read(), 2u);
    EXPECT_EQ(call_statistics.others().bytes.read(), 11u);
    EXPECT_EQ(call_statistics.lines()[7].calls.read(), 2u) << "lines that are there are still found";
}

}   // namespace
}   // namespace tutti
