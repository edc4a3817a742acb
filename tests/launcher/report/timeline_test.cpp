// SPDX-License-Identifier: BSD-3-Clause
// Artificial recordings: messages are matched with their sends and receives, and waits with their causes.
#include "launcher/report/timeline.hpp"

#include <functional>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/report/summary.hpp"
#include "tests/launcher/report/made_up.hpp"

namespace tutti::launcher {
namespace {

RecordedCall const& call_of(Timeline const& timeline, int rank, std::size_t index) {
    return timeline.rank_timeline(rank)->calls.at(index);
}

TEST(Timeline, a_message_has_both_of_its_ends) {
    SyntheticRecording job(2);
    job.send(0, 100, 200, 1, 7, 64);
    job.receive(1, 150, 300, 0, 7, 64);
    Timeline const t = job.timeline();
    ASSERT_EQ(t.messages.size(), 1u);
    RecordedMessage const& m = t.messages[0];
    EXPECT_EQ(m.from, 0);
    EXPECT_EQ(m.to, 1);
    EXPECT_EQ(m.tag, 7);
    EXPECT_EQ(m.bytes, 64);
    EXPECT_LT(m.sent, m.received);
    EXPECT_EQ(m.send_call, 0);
    EXPECT_EQ(m.receive_call, 0);
    EXPECT_EQ(t.names[static_cast<std::size_t>(call_of(t, 1, 0).name)], "MPI_Recv");
    EXPECT_EQ(t.source_lines[static_cast<std::size_t>(call_of(t, 1, 0).source_line)], "line of MPI_Recv");
}

TEST(Timeline, messages_of_one_kind_pair_up_in_their_order_and_others_stay_apart) {
    SyntheticRecording job(2);
    job.send(0, 100, 110, 1, 7, 1);
    job.send(0, 120, 130, 1, 8, 2);
    job.send(0, 140, 150, 1, 7, 3);
    job.receive(1, 200, 210, 0, 8, 2);
    job.receive(1, 220, 230, 0, 7, 1);
    Timeline const t = job.timeline();
    ASSERT_EQ(t.messages.size(), 3u);
    EXPECT_EQ(t.messages[0].received, 229);
    EXPECT_EQ(t.messages[1].received, 209);
    EXPECT_EQ(t.messages[2].received, -1);
    EXPECT_EQ(summary_of(t).unmatched, 1u);
}

TEST(Timeline, a_receive_before_its_send_is_a_late_sender) {
    SyntheticRecording job(2);
    job.receive(1, 1000, 9000, 0, 7, 8, 7900);
    job.send(0, 8000, 8100, 1, 7, 8);
    Timeline t = job.timeline();
    classify_waits(t);
    RecordedCall const& c = call_of(t, 1, 0);
    EXPECT_EQ(c.cause, WaitCause::late_sender);
    EXPECT_EQ(c.culprit, 0);
    EXPECT_EQ(t.source_lines[static_cast<std::size_t>(c.culprit_line)], "line of MPI_Send");
    EXPECT_EQ(c.caused, 7001);   // until the message was sent, within the send
}

TEST(Timeline, a_send_before_its_receive_is_a_late_receiver) {
    SyntheticRecording job(2);
    job.send(0, 1000, 9000, 1, 7, 1 << 20, 7900);
    job.receive(1, 8000, 9100, 0, 7, 1 << 20, 0, false);
    Timeline t = job.timeline();
    classify_waits(t);
    RecordedCall const& c = call_of(t, 0, 0);
    EXPECT_EQ(c.cause, WaitCause::late_receiver);
    EXPECT_EQ(c.culprit, 1);
    EXPECT_GE(c.caused, 7000);
}

TEST(Timeline, a_wait_for_a_send_that_began_earlier_is_a_late_receiver_too) {
    SyntheticRecording job(2);
    job.send(0, 1000, 1100, 1, 7, 1 << 20, 0, "MPI_Isend");
    job.call(0, 2000, 9000, "MPI_Wait", 6900);
    job.receive(1, 8000, 8950, 0, 7, 1 << 20, 0, false);
    Timeline t = job.timeline();
    classify_waits(t);
    EXPECT_EQ(call_of(t, 0, 1).cause, WaitCause::late_receiver);
    EXPECT_EQ(call_of(t, 0, 1).culprit, 1);
}

TEST(Timeline, the_last_rank_at_a_barrier_causes_the_waits) {
    SyntheticRecording job(3);
    job.collective(0, 1000, 9100, "barrier|node|flags", -1, 8000);
    job.collective(1, 9000, 9100, "barrier|node|flags", -1, 0);
    job.collective(2, 5000, 9100, "barrier|node|flags", -1, 4000);
    Timeline t = job.timeline();
    classify_waits(t);
    ASSERT_EQ(t.collectives.size(), 1u);
    EXPECT_EQ(t.collectives[0].entries.back().rank, 1);
    EXPECT_EQ(call_of(t, 0, 0).cause, WaitCause::wait_at_barrier);
    EXPECT_EQ(call_of(t, 0, 0).culprit, 1);
    EXPECT_EQ(call_of(t, 2, 0).culprit, 1);
    EXPECT_EQ(call_of(t, 1, 0).cause, WaitCause::none);
    Summary const sum = summary_of(t);
    ASSERT_EQ(sum.collectives.size(), 1u);
    EXPECT_EQ(sum.collectives[0].last.at(1), 1u);
    EXPECT_EQ(t.algorithms[0].collective, "barrier");
    EXPECT_EQ(t.algorithms[0].levels, "node");
    EXPECT_EQ(t.algorithms[0].name, "flags");
}

TEST(Timeline, a_root_that_comes_late_to_a_broadcast_is_waited_for_and_to_a_reduction_not) {
    SyntheticRecording job(2);
    job.collective(0, 9000, 9100, "bcast|node|flat", 0, 0);
    job.collective(1, 1000, 9100, "bcast|node|flat", 0, 8000);
    job.collective(0, 20000, 20100, "reduce|node|flat", 0, 0);
    job.collective(1, 12000, 12100, "reduce|node|flat", 0, 0);
    Timeline t = job.timeline();
    classify_waits(t);
    EXPECT_EQ(call_of(t, 1, 0).cause, WaitCause::late_broadcast);
    EXPECT_EQ(call_of(t, 1, 0).culprit, 0);
    EXPECT_EQ(call_of(t, 0, 1).cause, WaitCause::none);
}

TEST(Timeline, only_rooted_collectives_have_a_root) {
    SyntheticRecording job(1);
    job.collective(0, 1000, 2000, "allreduce|node|exchange", 0, 0);
    job.collective(0, 3000, 4000, "gather|node|flat", 0, 0);
    Timeline const t = job.timeline();
    EXPECT_EQ(t.collectives.at(0).root, -1);
    EXPECT_EQ(t.collectives.at(1).root, 0);
}

TEST(Timeline, a_root_that_comes_early_to_a_reduction_waits) {
    SyntheticRecording job(2);
    job.collective(0, 1000, 9100, "reduce|node|flat", 0, 8000);
    job.collective(1, 9000, 9050, "reduce|node|flat", 0, 0);
    Timeline t = job.timeline();
    classify_waits(t);
    EXPECT_EQ(call_of(t, 0, 0).cause, WaitCause::early_reduce);
    EXPECT_EQ(call_of(t, 0, 0).culprit, 1);
}

TEST(Timeline, a_wait_that_no_rank_caused_is_under_way) {
    SyntheticRecording job(2);
    job.send(0, 1000, 1100, 1, 7, 8);
    job.receive(1, 2000, 9000, 0, 7, 8, 6000);
    Timeline t = job.timeline();
    classify_waits(t);
    EXPECT_EQ(call_of(t, 1, 0).cause, WaitCause::other);
}

TEST(Timeline, a_call_that_never_ended_waits_until_the_end) {
    SyntheticRecording job(1);
    job.unfinished(0, 5000, "MPI_Recv", "MPI_Recv(1 MPI_INT from rank 0)");
    Timeline t = job.timeline();
    classify_waits(t);
    RecordedCall const& c = call_of(t, 0, 0);
    EXPECT_EQ(c.cause, WaitCause::never_ended);
    EXPECT_EQ(c.end(), t.length);
    EXPECT_EQ(c.description, "MPI_Recv(1 MPI_INT from rank 0)");
    EXPECT_EQ(summary_of(t).by_cause.at(WaitCause::never_ended), c.length);
}

TEST(Timeline, calls_in_a_callback_are_counted_once) {
    SyntheticRecording job(1);
    job.call(0, 2000, 3000, "MPI_Send");   // the inner call is recorded first
    job.call(0, 1000, 5000, "MPI_Allreduce");
    Timeline const t = job.timeline();
    EXPECT_EQ(t.names[static_cast<std::size_t>(call_of(t, 0, 0).name)], "MPI_Allreduce");
    EXPECT_EQ(summary_of(t).ranks.at(0).in_mpi, 4000);
}

template <class Sums, class Value>
std::int64_t total(Sums const& sums, Value value) {
    std::int64_t all = 0;
    for (auto const& one : sums) all += std::invoke(value, one);
    return all;
}

/// Waiting times must be equal in all sums.
void expect_equal_waits(Summary const& sum, std::int64_t waited) {
    EXPECT_EQ(total(sum.ranks, &RankSum::waited), waited);
    EXPECT_EQ(total(sum.by_call, &CallSum::waited), waited);
    EXPECT_EQ(total(sum.by_line, &CallSum::waited), waited);
    EXPECT_EQ(total(sum.waits, &WaitSum::time), waited);
    EXPECT_EQ(total(sum.by_cause, &std::pair<WaitCause const, std::int64_t>::second), waited);
}

TEST(Timeline, the_unexplained_rest_of_a_wait_is_under_way_in_every_sum) {
    SyntheticRecording job(2);
    for (std::int64_t begin : {1000, 21000}) {   // a ring: each time, the message takes longer than its sender was late
        job.receive(1, begin, begin + 9000, 0, 7, 8, 8900);
        job.send(0, begin + 2000, begin + 2100, 1, 7, 8, 90);   // the wait is too short to be explained
    }
    Timeline t = job.timeline();
    classify_waits(t);
    Summary const sum = summary_of(t);
    expect_equal_waits(sum, 2 * (8900 + 90));
    ASSERT_EQ(sum.waits.size(), 3u);
    EXPECT_EQ(sum.waits[0].cause, WaitCause::other);
    EXPECT_EQ(t.names[static_cast<std::size_t>(sum.waits[0].name)], "MPI_Recv");
    EXPECT_EQ(sum.waits[0].time, 2 * (8900 - 2001));
    EXPECT_EQ(sum.waits[0].calls, 2u);
    EXPECT_THAT(sum.waits[0].culprits, testing::IsEmpty());
    EXPECT_EQ(sum.waits[1].cause, WaitCause::late_sender);
    EXPECT_EQ(sum.waits[1].time, 2 * 2001);
    EXPECT_EQ(sum.waits[2].time, 2 * 90);
}

TEST(Timeline, waits_of_calls_in_each_other_are_added_once) {
    SyntheticRecording job(1);
    job.call(0, 2000, 3000, "MPI_Send", 900);
    job.call(0, 1000, 5000, "MPI_Allreduce", 2500);
    job.call(0, 7000, 9000, "MPI_Recv", 1500);
    job.unfinished(0, 6000, "MPI_Comm_free", "MPI_Comm_free(MPI_COMM_WORLD)");   // contains the receive in a callback
    Timeline t = job.timeline();
    classify_waits(t);
    Summary const sum = summary_of(t);
    expect_equal_waits(sum, 900 + 2500 + (t.length - 6000));
    EXPECT_EQ(sum.ranks.at(0).in_mpi, 4000 + t.length - 6000);
}

TEST(Timeline, sums_by_line_and_call_hold_all_ranks) {
    SyntheticRecording job(2);
    for (int rank : {0, 1})
        for (int i = 0; i < 3; ++i) job.call(rank, 1000 + i * 1000, 1500 + i * 1000, "MPI_Test");
    Summary const sum = summary_of(job.timeline());
    ASSERT_EQ(sum.by_call.size(), 1u);
    EXPECT_EQ(sum.by_call[0].calls, 6u);
    EXPECT_EQ(sum.by_call[0].time, 3000);
    EXPECT_EQ(sum.by_line[0].longest, 500);
}

TEST(Timeline, of_a_message_whose_send_was_overwritten_the_sender_is_known) {
    SyntheticRecording job(2);
    job.receive(1, 200, 300, 0, 7, 8);
    Timeline const t = job.timeline();
    ASSERT_EQ(t.messages.size(), 1u);
    EXPECT_EQ(t.messages[0].from, 0);
    EXPECT_EQ(t.messages[0].sent, -1);
    EXPECT_THAT(summary_of(t).pairs, testing::SizeIs(1));
}

}   // namespace
}   // namespace tutti::launcher
