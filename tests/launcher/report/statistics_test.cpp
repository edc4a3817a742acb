// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/report/statistics.hpp"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/base/text.hpp"
#include "launcher/nodes/node_data.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(Statistics, formats_sizes) {
    EXPECT_EQ(format_size(0), "0");
    EXPECT_EQ(format_size(1023), "1023 B");
    EXPECT_EQ(format_size(1536), "1.5 KiB");
    EXPECT_EQ(format_size(std::uint64_t{3} << 30), "3.0 GiB");
    EXPECT_EQ(format_size(~std::uint64_t{0}), "16384.0 PiB");
}

TEST(Statistics, formats_times) {
    EXPECT_EQ(format_time(0), "0");
    EXPECT_EQ(format_time(999), "999 ns");
    EXPECT_EQ(format_time(1500), "1.5 us");
    EXPECT_EQ(format_time(2'250'000), "2.2 ms");
    EXPECT_EQ(format_time(125'000'000'000), "125.0 s");
}

TEST(Statistics, columns_are_as_wide_as_their_contents) {
    Table table({"name", "n"}, 1);
    table.add({"a", "12345"});
    table.add({"", "6"});
    EXPECT_EQ(table.text(),
              "  name      n\n"
              "  a     12345\n"
              "            6\n");
}

TEST(Statistics, a_line_for_each_rank_and_one_for_all) {
    Segment segment = Segment::create(2);
    segment.rank_state(0).counters.direct.add(1 << 20);
    segment.rank_state(1).counters.direct.add(1 << 19);
    segment.rank_state(1).counters.direct.add(1 << 19);
    segment.rank_state(1).counters.cma.add(100);
    segment.rank_state(1).counters.hits.add(7);
    segment.rank_state(1).counters.unmaps.add(5);
    std::string const table = access_path_table(counts_of(segment));
    EXPECT_THAT(table, ContainsRegex("rank +arenas +XPMEM +CMA +staged +maps +hits +unmaps"));
    EXPECT_THAT(table, ContainsRegex("\n +0 +1.0 MiB +0 +0 +0 +0 +0 +0 +0 +0\n"));
    EXPECT_THAT(table, ContainsRegex("\n +1 +1.0 MiB +0 +100 B +0 +0 +7 +5 +0 +0\n"));
    EXPECT_THAT(table, ContainsRegex("\n +all +2.0 MiB +0 +100 B +0 +0 +7 +5 +0 +0\n"));
}

TEST(Statistics, traffic_and_waits_of_each_rank_and_of_all) {
    Segment segment = Segment::create(2);
    for (unsigned r = 0; r < 2; ++r) {
        RankState& rank_state = segment.rank_state(r);
        rank_state.traffic.loaded.add(2048);
        rank_state.traffic.stored.add(10);
        for (unsigned k = 0; k < 5; ++k) rank_state.traffic.messages[k].add(k + 1);
        rank_state.traffic.to_nodes.add(3072);
        rank_state.times.waits.add(5);
        rank_state.times.waited.add(1'000'000);
        rank_state.times.started.set(1'000'000);
    }
    segment.rank_state(0).times.ended.set(3'000'000);
    std::string const table = traffic_table(counts_of(segment), 5'000'000);
    EXPECT_THAT(table, ContainsRegex("rank +loaded +stored +in cache +in NUMA +in socket +between +to nodes "
                                     "+sent there +waits +waited"));
    EXPECT_THAT(table, ContainsRegex("\n +0 +2.0 KiB +10 B +1 +2 +3 +4 +5 +3.0 KiB +5 +1.0 ms +2.0 ms\n"));
    EXPECT_THAT(table, ContainsRegex("\n +1 +2.0 KiB +10 B +1 +2 +3 +4 +5 +3.0 KiB +5 +1.0 ms +4.0 ms\n"))
        << "a rank that has not ended is counted until now";
    EXPECT_THAT(table, ContainsRegex("\n +all +4.0 KiB +20 B +2 +4 +6 +8 +10 +6.0 KiB +10 +2.0 ms +6.0 ms\n"));
}

TEST(Statistics, phases_of_each_rank_and_of_the_masters) {
    Segment segment = Segment::create(2);
    EXPECT_EQ(phase_table(counts_of(segment)), "");
    segment.rank_state(0).traffic.inside_before.add(1'000'000);
    segment.rank_state(0).traffic.between_nodes.add(6'000'000);
    segment.rank_state(0).traffic.inside_after.add(1'000'000);
    segment.rank_state(1).traffic.inside_after.add(4'000'000);
    std::string const table = phase_table(counts_of(segment));
    EXPECT_THAT(table, ContainsRegex("rank +before +between +after +share"));
    EXPECT_THAT(table, ContainsRegex("\n +0 +1.0 ms +6.0 ms +1.0 ms +75 %\n"));
    EXPECT_THAT(table, ContainsRegex("\n +1 +0 +- +4.0 ms +-\n"));
    EXPECT_THAT(table, ContainsRegex("\n +masters +1.0 ms +6.0 ms +1.0 ms +75 %\n"));
}

TEST(Statistics, how_each_rank_waited) {
    Segment segment = Segment::create(2);
    Times& times = segment.rank_state(1).times;
    times.waited.set(5'000'000);
    times.slept.set(2'000'000);
    Counter* const counts[] = {&times.sleeps,      &times.wakes,       &times.yields,    &times.useless_yields,
                               &times.long_yields, &times.lost_slices, &times.core_moves};
    for (std::size_t i = 0; i < std::size(counts); ++i) counts[i]->set(10 + i);
    times.shared_core.set(6'000'000);
    times.run_delay.set(7'000'000);
    segment.rank_state(0).times.slept.set(1'000'000);   // in calls that poll once, which are not waits
    std::string const table = waiting_table(counts_of(segment));
    EXPECT_THAT(table, ContainsRegex("rank +polled +slept +sleeps +wakes +yields +useless +long +lost slices +moves "
                                     "+shared +run delay\n"));
    EXPECT_THAT(table, ContainsRegex("\n +0 +0 +1.0 ms +0 +0 +0 +0 +0 +0 +0 +0 +0\n"));
    EXPECT_THAT(table, ContainsRegex("\n +1 +3.0 ms +2.0 ms +10 +11 +12 +13 +14 +15 +16 +6.0 ms +7.0 ms\n"));
    EXPECT_THAT(table, ContainsRegex("\n +all +3.0 ms +3.0 ms +10 +11 +12 +13 +14 +15 +16 +6.0 ms +7.0 ms\n"));
}

TEST(Statistics, where_the_kernel_sees_the_memory_of_each_rank) {
    Segment segment = Segment::create(2);
    EXPECT_EQ(memory_table(counts_of(segment)),
              "Memory: there is only one NUMA node, or placement is not available (see tutti-info).\n");
    segment.rank_state(0).placed.refused.set(EPERM);
    EXPECT_EQ(memory_table(counts_of(segment)),
              "The system refuses to place memory, or to report its NUMA node: Operation not permitted.\n");
    segment.rank_state(0).placed.refused.set(0);
    for (unsigned r = 0; r < 2; ++r) {
        Placed& placed = segment.rank_state(r).placed;
        placed.node.set(r + 1);
        placed.moves.set(r);
        for (std::size_t part = 0; part < 3; ++part)
            placed.inspected[part].set(100), placed.on_node[part].set(100 - 50 * r);
    }
    std::string const table = memory_table(counts_of(segment));
    EXPECT_THAT(table, ContainsRegex("rank +node +state +rings +heap +arena +moves\n"));
    EXPECT_THAT(table, ContainsRegex("\n +0 +0 +100 % of 100 +100 % of 100 +100 % of 100 +- +0\n"));
    EXPECT_THAT(table, ContainsRegex("\n +1 +1 +50 % of 100 +50 % of 100 +50 % of 100 +- +1\n"));
    EXPECT_THAT(table, ContainsRegex("\n +all +75 % of 200 +75 % of 200 +75 % of 200 +- +1\n"));
}

TEST(Statistics, collectives_of_all_ranks_by_time) {
    Segment segment = Segment::create(2);
    for (unsigned r = 0; r < 2; ++r) {
        segment.rank_state(r).times.started.set(1);
        segment.rank_state(r).times.ended.set(1'000'001);
        segment.call_statistics(r).row("MPI_COMM_WORLD", 2, "bcast", "slots").record(8, 1000);
        CallStatisticsRow& reduction = segment.call_statistics(r).row("MPI_COMM_WORLD", 2, "allreduce", "blocks");
        reduction.record(512, 50'000 * (r + 1));
        reduction.record(512, 50'000 * (r + 1));
    }
    segment.call_statistics(1).row("", 1, "barrier", "exchange").record(0, 300'000);
    std::string const table = collectives_table(counts_of(segment), 0);
    EXPECT_THAT(table, ContainsRegex("communicator +collective +algorithm +ranks +calls +bytes +mean +most +longest"));
    EXPECT_THAT(table, ContainsRegex("MPI_COMM_WORLD +allreduce +blocks +2 +2 +1.0 KiB +150.0 us +200.0 us +100.0 us "
                                     "+15.0 %\n"));
    EXPECT_THAT(table, ContainsRegex(".unnamed. +barrier +exchange +1 +1 +0 +300.0 us +300.0 us +300.0 us +15.0 %\n"));
    EXPECT_THAT(table, ContainsRegex("MPI_COMM_WORLD +bcast +slots +2 +1 +8 B +1.0 us +1.0 us +1.0 us +0.1 %\n"));
    EXPECT_LT(table.find("allreduce"), table.find("bcast"));
    EXPECT_LT(table.find("barrier"), table.find("bcast"));
    EXPECT_THAT(table, Not(HasSubstr("others")));
}

TEST(Statistics, windows_have_a_table_of_their_own) {
    Segment segment = Segment::create(2);
    EXPECT_EQ(windows_table(counts_of(segment), 0), "");
    for (unsigned r = 0; r < 2; ++r) {
        segment.rank_state(r).times.started.set(1);
        segment.rank_state(r).times.ended.set(1'000'001);
        segment.call_statistics(r).row("halo", 2, "put", "load and store", true).record(64, 1000);
        segment.call_statistics(r).row("halo", 2, "fence", "", true).record(0, 100'000 * (r + 1));
    }
    std::string const table = windows_table(counts_of(segment), 0);
    EXPECT_THAT(table, ContainsRegex("window +operation +path +ranks +calls +bytes +mean +most +longest"));
    EXPECT_THAT(table, ContainsRegex("halo +put +load and store +2 +1 +64 B +1.0 us +1.0 us +1.0 us +0.1 %\n"));
    EXPECT_THAT(table, ContainsRegex("halo +fence +2 +1 +0 +150.0 us +200.0 us +200.0 us +15.0 %\n"));
    EXPECT_LT(table.find("fence"), table.find("put"));
    EXPECT_EQ(collectives_table(counts_of(segment), 0), "No rank called a collective.\n");
}

TEST(Statistics, calls_beyond_the_table_are_reported) {
    Segment segment = Segment::create(1);
    for (std::size_t i = 0; i < CallStatistics::capacity + 3; ++i)
        segment.call_statistics(0).row("communicator " + std::to_string(i), 1, "barrier", "exchange").record(2, 10);
    std::string const table = collectives_table(counts_of(segment), 0);
    EXPECT_THAT(table, ContainsRegex("\n +.others. +3 +6 B +30 ns +30 ns +10 ns"));
    EXPECT_THAT(table, HasSubstr("all 128 lines of their call statistics were in use"));
}

TEST(Statistics, of_a_job_without_collectives) {
    Segment segment = Segment::create(1);
    EXPECT_EQ(collectives_table(counts_of(segment), 0), "No rank called a collective.\n");
}

TEST(Statistics, are_the_same_of_a_copy_from_another_node) {
    Segment segment = Segment::create(2);
    AllRankCounts copies;
    std::vector<std::unique_ptr<RemoteRankCounts>> kept;
    for (unsigned r = 0; r < 2; ++r) {
        segment.rank_state(r).counters.direct.add(1 << 20);
        segment.rank_state(r).traffic.messages[4].add(3);
        segment.rank_state(r).times.started.set(1000);
        segment.rank_state(r).placed.node.set(r + 1);
        segment.rank_state(r).placed.inspected[r].set(8);
        for (std::size_t i = 0; i < CallStatistics::capacity + 2; ++i)
            segment.call_statistics(r).row("c" + std::to_string(i), 2, "bcast", "slots", i % 2 == 0).record(i, 10 + r);
    }
    segment.rank_state(0).times.ended.set(4000);
    AllRankCounts const counts = counts_of(segment);
    for (RankCounts const& counts : counts) {
        kept.push_back(unpacked_counts(packed_counts(counts, 9000)));
        copies.push_back(kept.back()->counts());
    }
    EXPECT_EQ(access_path_table(copies), access_path_table(counts));
    EXPECT_EQ(traffic_table(copies, 0), traffic_table(counts, 9000));
    EXPECT_EQ(memory_table(copies), memory_table(counts));
    EXPECT_EQ(collectives_table(copies, 0), collectives_table(counts, 9000));
    EXPECT_EQ(windows_table(copies, 0), windows_table(counts, 9000));
    EXPECT_THROW(unpacked_counts("too short"), Error);
}

}   // namespace
}   // namespace tutti::launcher
