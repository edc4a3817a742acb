// SPDX-License-Identifier: BSD-3-Clause
// The launcher reads recordings from memory that ranks write: a rank that overwrites it loses only its own recording.
#include "launcher/report/recording.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "launcher/nodes/node_data.hpp"

namespace tutti::launcher {
namespace {

constexpr std::uint64_t room = 16;

TEST(Recording, has_the_last_events_in_their_order) {
    Segment const segment = Segment::create(1, {}, {}, {}, SegmentCreator::launcher, nullptr, room);
    Trace& trace = *segment.trace(0);
    for (std::uint64_t i = 0; i < room + 3; ++i) trace.ring()[i % room].time = static_cast<std::int64_t>(i);
    trace.events = room + 3;
    std::vector<RankRecording> const all = read_traces(segment, room, 0, "host", 99);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].lost, 3u);
    ASSERT_EQ(all[0].events.size(), room);
    EXPECT_EQ(all[0].events.front().time, 3);
    EXPECT_EQ(all[0].events.back().time, static_cast<std::int64_t>(room) + 2);
}

TEST(Recording, reads_nothing_outside_of_the_trace) {
    for (int byte : {0xff, 0x7f, 0x39}) {
        Segment const segment = Segment::create(1, {}, {}, {}, SegmentCreator::launcher, nullptr, room);
        std::memset(static_cast<void*>(segment.trace(0)), byte, Trace::bytes(room));
        std::vector<RankRecording> const all = read_traces(segment, room, 0, "host", 99);
        ASSERT_EQ(all.size(), 1u);
        EXPECT_LE(all[0].events.size(), room);
        EXPECT_EQ(all[0].texts.size(), Trace::max_texts);
        EXPECT_EQ(all[0].comms.size(), Trace::max_comms);
    }
    Segment const segment = Segment::create(1, {}, {}, {}, SegmentCreator::launcher, nullptr, room);
    segment.trace(0)->capacity = 0;
    segment.trace(0)->events = 1;
    EXPECT_EQ(read_traces(segment, room, 0, "host", 99).at(0).events.size(), 1u);
}

TEST(RankCounts, are_those_of_the_ranks_own_lines) {
    Segment const segment = Segment::create(1);
    CallStatistics& statistics = segment.call_statistics(0);
    std::memset(static_cast<void*>(&statistics), 0x41, sizeof statistics);
    EXPECT_EQ(statistics.rows().size(), CallStatistics::capacity);
    RankCounts const counts{0, &segment.rank_state(0), &statistics};
    std::unique_ptr<RemoteRankCounts> const copy = unpacked_counts(packed_counts(counts, 1));
    for (CallStatisticsRow const& line : copy->call_statistics.rows())
        EXPECT_EQ(std::strlen(line.communicator), sizeof line.communicator - 1);
}

}   // namespace
}   // namespace tutti::launcher
