// SPDX-License-Identifier: BSD-3-Clause
// A rank's trace: calls, messages and communicators; merged and omitted calls; retention of the last events.
#include "runtime/state/tracer.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tests/coll/world/allocations.hpp"

namespace tutti {
namespace {

/// A zeroed trace with room for `room` events.
class TracerTest : public testing::Test {
protected:
    void make(std::uint64_t room) {
        memory_.reset(static_cast<char*>(std::aligned_alloc(4096, (Trace::bytes(room) + 4095) / 4096 * 4096)));
        std::fill_n(memory_.get(), Trace::bytes(room), 0);
        trace = reinterpret_cast<Trace*>(memory_.get());
        trace->capacity = room;
        tracer.emplace(*trace);
    }
    std::uint64_t events() const { return trace->events.load(); }
    TraceEvent const& event(std::uint64_t i) const { return trace->ring()[i % trace->capacity]; }
    std::string text(TraceEvent const& e) const { return trace->texts[e.text]; }
    void call(Function function) {
        tracer->enter(function, __builtin_return_address(0));
        tracer->leave();
    }

    Trace* trace = nullptr;
    std::optional<Tracer> tracer;

private:
    struct Free {
        void operator()(char* p) const { std::free(p); }
    };
    std::unique_ptr<char, Free> memory_;
};

TEST_F(TracerTest, a_call_follows_its_events_and_has_its_wait) {
    make(16);
    tracer->enter("MPI_Recv", nullptr);
    tracer->waited(5);
    tracer->received(1, 0, 7, 64, true);
    EXPECT_NE(trace->open[0].begin.load(), 0);
    tracer->leave();
    EXPECT_EQ(trace->open[0].begin.load(), 0);
    ASSERT_EQ(events(), 2u);
    EXPECT_EQ(event(0).kind, TraceKind::received);
    EXPECT_EQ(event(0).flags, TraceEvent::receive_first);
    EXPECT_EQ(event(1).kind, TraceKind::call);
    EXPECT_EQ(text(event(1)), "MPI_Recv");
    EXPECT_LE(event(1).waited, 5);
    EXPECT_GE(event(0).time, event(1).time);
}

TEST_F(TracerTest, messages_of_the_same_kind_are_numbered_at_both_ends) {
    make(16);
    tracer->sent(10, 1, 0, 7, 3, 8);
    tracer->sent(20, 1, 0, 8, 3, 8);
    tracer->sent(30, 1, 0, 7, 3, 8);
    tracer->received(1, 0, 7, 8, false);
    EXPECT_EQ(event(0).waited, 0);
    EXPECT_EQ(event(1).waited, 0);
    EXPECT_EQ(event(2).waited, 1);
    EXPECT_EQ(event(3).waited, 0);
    EXPECT_EQ(event(2).time, 30);
}

TEST_F(TracerTest, local_queries_are_omitted) {
    make(16);
    call("MPI_Comm_rank");
    call("MPI_Type_size");
    EXPECT_EQ(events(), 0u);
    call("MPI_Comm_create");
    call("MPI_Get_accumulate");
    EXPECT_EQ(events(), 2u);
}

TEST_F(TracerTest, a_polling_loop_is_one_event_and_other_events_end_it) {
    make(16);
    void* const site = __builtin_return_address(0);
    auto const test_once = [&] {
        tracer->enter("MPI_Test", site);
        tracer->leave();
    };
    // On a busy machine any time may pass between two calls; the test therefore moves the end of the last event.
    constexpr std::int64_t hour_ns = 3'600'000'000'000;
    auto const move_end = [&](std::int64_t by) { trace->ring()[events() - 1].amount += by; };
    for (int i = 0; i < 5; ++i) {
        test_once();
        move_end(hour_ns);
    }
    EXPECT_EQ(events(), 1u);
    EXPECT_EQ(event(0).tag, 5) << "calls merged";
    tracer->sent(1, 1, 0, 7, 3, 8);
    test_once();
    EXPECT_EQ(events(), 3u);
    EXPECT_EQ(event(2).tag, 1);
    move_end(-hour_ns);
    test_once();
    EXPECT_EQ(events(), 4u) << "after a pause, the loop is another event";
}

TEST_F(TracerTest, the_last_events_are_kept) {
    make(4);
    for (int i = 0; i < 10; ++i) tracer->sent(i, 1, 0, 7, 3, 8);
    EXPECT_EQ(events(), 10u);
    for (std::uint64_t i = 6; i < 10; ++i) EXPECT_EQ(event(i).time, static_cast<std::int64_t>(i));
}

TEST_F(TracerTest, collectives_are_counted_by_communicator_and_named_once) {
    make(16);
    int line = 0, described = 0;
    auto const describe = [&] { return ++described, std::string("bcast|node|flat"); };
    tracer->collective(1, 0, 8, &line, describe);
    tracer->collective(1, 0, 8, &line, describe);
    tracer->collective(2, 0, 8, &line, describe);
    EXPECT_EQ(described, 1);
    EXPECT_EQ(event(1).waited, 1);
    EXPECT_EQ(event(2).waited, 0);
    EXPECT_EQ(text(event(2)), "bcast|node|flat");
}

TEST_F(TracerTest, a_communicator_has_its_members_as_ranges_and_its_last_name) {
    make(4);
    std::vector<int> const members{0, 1, 2, 5, 7, 8};
    tracer->communicator(9, 2, members, "row");
    tracer->communicator(9, 2, members, "line");
    ASSERT_EQ(trace->comms_used.load(), 1u);
    EXPECT_STREQ(trace->comms[0].members, "0-2,5,7-8");
    EXPECT_STREQ(trace->comms[0].name, "line");
    EXPECT_EQ(trace->comms[0].size, 6);
    std::vector<int> odd;
    for (int i = 0; i < 500; ++i) odd.push_back(2 * i);
    tracer->communicator(10, 0, odd, "");
    EXPECT_TRUE(std::string(trace->comms[1].members).ends_with("…"));
}

TEST_F(TracerTest, calls_in_a_callback_end_before_the_enclosing_call) {
    make(16);
    tracer->enter("MPI_Allreduce", nullptr);
    tracer->enter("MPI_Send", nullptr);
    tracer->leave();
    tracer->leave();
    ASSERT_EQ(events(), 2u);
    EXPECT_EQ(text(event(0)), "MPI_Send");
    EXPECT_EQ(text(event(1)), "MPI_Allreduce");
}

TEST_F(TracerTest, events_without_memory_are_omitted) {
    for (std::size_t allowed = 0; allowed < 12; ++allowed) {
        make(64);
        int line = 0;
        std::vector<int> const members{0, 2, 4};
        tracer->enter("MPI_Allreduce", nullptr);
        {
            coll::test::AllocationLimit const ends(allowed);
            tracer->enter("MPI_Send", nullptr);
            tracer->collective(1, 0, 8, &line, [] { return std::string("bcast|node|pipelined_chain"); });
            tracer->sent(1, 1, 0, 7, 1, 8);
            tracer->received(1, 0, 7, 8, false);
            tracer->communicator(9, 0, members, "row");
            tracer->leave();
        }
        call("MPI_Recv");
        tracer->leave();
        ASSERT_GE(events(), 2u) << allowed;
        EXPECT_EQ(text(event(events() - 2)), "MPI_Recv") << allowed;
        EXPECT_EQ(text(event(events() - 1)), "MPI_Allreduce") << allowed;
        for (OpenCall const& open : trace->open) EXPECT_EQ(open.begin.load(), 0) << allowed;
    }
}

}   // namespace
}   // namespace tutti
