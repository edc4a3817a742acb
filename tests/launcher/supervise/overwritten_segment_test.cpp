// SPDX-License-Identifier: BSD-3-Clause
// A rank may store through a wrong pointer into the segment, which mpiexec reads during and after the job. Whatever the
// segment contains, each reader must return and access only valid memory (checked by AddressSanitizer).
#include <cstring>
#include <memory>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "launcher/diagnosis/blocked_ranks.hpp"
#include "launcher/diagnosis/deadlock_detector.hpp"
#include "launcher/diagnosis/node_monitor.hpp"
#include "launcher/diagnosis/node_ranks.hpp"
#include "launcher/diagnosis/report.hpp"
#include "launcher/nodes/node_data.hpp"
#include "launcher/report/page.hpp"
#include "launcher/report/recording.hpp"
#include "launcher/report/statistics.hpp"
#include "launcher/report/write_report.hpp"
#include "launcher/supervise/abort_messages.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"
#include "runtime/memory/placement.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti::launcher {
namespace {

constexpr unsigned ranks = 3;
constexpr std::uint64_t trace_room = 32;   // events per trace

template <std::size_t n>
void say(char (&to)[n], char const* words) {
    std::strncpy(to, words, n - 1);
}

/// Publishes the state of a working rank.
void show(Segment const& segment, unsigned place) {
    RankState& state = segment.rank_state(place);
    state.state.store(RankPhase::initialised);
    state.blocked.changes.store(3);
    state.blocked.threads = 2;
    for (BlockedThread& thread : state.blocked.thread) {
        thread.awaiting = Awaiting::all;
        thread.ranges = 1;
        thread.further_ranges = 1;
        thread.awaited[0] = thread.awaited[1] = {0, 2, 1};
        thread.call.addresses = 1;
        say(thread.call.text, "MPI_Recv(1 MPI_INT from rank 0)");
    }
    state.busy_poll.changes.store(1);
    state.busy_poll.last.store(now_ns());
    say(state.busy_poll.call.text, "MPI_Iprobe");
    state.diagnostic.kind.store(Diagnostic::Kind::warning);
    state.diagnostic.locations = 2;
    say(state.diagnostic.error.headline, "something is wrong");
    state.abort_message.state.store(AbortMessage::written);
    state.abort_message.call.addresses = 2;
    say(state.abort_message.error.headline, "the end");
    state.times.started.set(static_cast<std::uint64_t>(now_ns()) - 1000);
    segment.call_statistics(place).row("MPI_COMM_WORLD", 3, "bcast", "linear").record(8, 100);
    Trace& trace = *segment.trace(place);
    trace.texts_used.store(2);
    say(trace.texts[0], "MPI_Bcast");
    say(trace.texts[1], "bcast|numa|linear");
    trace.comms_used.store(1);
    trace.comms[0] = {7, 3, static_cast<std::int32_t>(place), "MPI_COMM_WORLD", "0-2"};
    for (std::uint64_t i = 0; i < 2 * trace_room; ++i) {
        TraceEvent& event = trace.ring()[i % trace_room];
        event = {now_ns(), 10, 5, 7, static_cast<std::int32_t>(i % 3), 1, static_cast<std::uint16_t>(i % 2), {}, 1, 1};
        event.kind = static_cast<TraceKind>(1 + i % 4);
    }
    trace.events.store(2 * trace_room);
}

/// A job that mpiexec has started to observe.
struct SeenJob {
    SeenJob() {
        for (unsigned place = 0; place < ranks; ++place) show(segment, place);
    }

    Segment segment = Segment::create(ranks, "machine", "tuning", {}, SegmentCreator::launcher, nullptr, trace_room);
    NodeRanks node_ranks{segment, [](unsigned) { return 0; }};
    NodeMonitor watch{segment, [](unsigned) { return true; }};
    DeadlockDetector deadlocks{std::vector<int>(ranks),
                               [this](int, WaitQuery const& query) { watch.start_query(query); }};
    StallDetector stall_detector{segment, [](unsigned) { return true; }, std::chrono::seconds(0)};
};

/// The reads in the main loop of mpiexec.
void read_running(SeenJob& job) {
    auto now = std::chrono::steady_clock::now();
    for (int turn = 0; turn < 4; ++turn, now += std::chrono::milliseconds(60)) {
        job.deadlocks.add(job.watch.collect_update(now));
        if (auto found = job.deadlocks.check(now)) {
            text_of(make_report(*found), true);
            found->complete(job.node_ranks.waiting_ranks(false));
            text_of(make_report(*found), true);
        }
        for (Report const& report : job.node_ranks.take_diagnostics(now)) text_of(report, false);
        job.stall_detector.check(now, now_ns());
    }
    std::vector<BlockedRank> blocked = job.node_ranks.waiting_ranks(true);
    for (unsigned place = 0; place < ranks; ++place) {
        RankState const& state = job.segment.rank_state(place);
        if (auto one = read_blocked(state)) blocked.push_back(std::move(*one));
        if (auto one = read_polling(state, now_ns())) blocked.push_back(std::move(*one));
        recorded_position(state, 0, {.rank = 0, .call = "MPI_Recv", .stack = {1}});
        json_of(make_report(state.diagnostic, [](LocatedCall const&) { return SourcePosition{}; }));
        MessageMerger merger;
        if (auto const message = read_abort_message(&state)) message->line();
    }
    table_of(waiting_lines(blocked));
    json_of(make_stall_report(blocked, std::chrono::seconds(1)));
}

/// The reads after ranks have ended.
void read_ended(SeenJob const& job) {
    for (unsigned place = 0; place < ranks; ++place) {
        ExitedRank ended{.rank = 0, .signal = 11, .description = "has ended"};
        ended.locate(job.segment.rank_state(place).last_call);
        text_of(make_exit_report({ended}, {}), false);
    }
    EXPECT_EQ(job.segment.machine().size(), 7u);
    EXPECT_EQ(job.segment.tuning().size(), 6u);
    survey(job.segment);
    AllRankCounts const counts = counts_of(job.segment);
    statistics(counts);
    for (RankCounts const& one : counts) unpacked_counts(packed_counts(one, 1));
    Recording recording;
    recording.ranks = read_traces(job.segment, trace_room, 0, "host", now_ns());
    for (RankRecording& one : recording.ranks) one = recording_in(packed_recording(one));
    std::ranges::sort(recording.ranks, {}, &RankRecording::rank);
    Timeline timeline = timeline_of(recording);
    classify_waits(timeline);
    page_of(recording, timeline, summary_of(timeline), {});
    std::ostringstream events;
    write_trace_events(events, recording, timeline);
}

class Overwriting {
public:
    explicit Overwriting(unsigned seed) : random_(seed) {}

    /// Overwrites some words in [first, first + bytes), or all of them.
    void overwrite(std::byte* first, std::size_t bytes) {
        std::size_t const words = bytes / sizeof(std::uint64_t);
        std::size_t const some = random_() % 3 == 0 ? words : 1 + random_() % 64;
        for (std::size_t i = 0; i < some; ++i) {
            std::uint64_t const value = any();
            std::memcpy(first + (some == words ? i : random_() % words) * sizeof value, &value, sizeof value);
        }
    }

private:
    std::uint64_t any() {
        switch (random_() % 6) {
        case 0: return 0;
        case 1: return ~std::uint64_t{0};
        case 2: return random_() % 8;
        case 3: return std::uint64_t{1} << 63;
        case 4: return (random_() % 1000) << 32 | (random_() % 1000);
        default: return random_();
        }
    }
    std::mt19937_64 random_;
};

TEST(OverwrittenSegment, CrashesNoReaderOfTheLauncher) {
    for (unsigned seed = 0; seed < 120; ++seed) {
        SCOPED_TRACE(seed);
        SeenJob job;
        Overwriting by(seed);
        Segment const& s = job.segment;
        SegmentLayout const& at = s.layout();
        std::byte* const base = reinterpret_cast<std::byte*>(&s.header());
        if (seed % 4 != 1) by.overwrite(base, sizeof(SegmentHeader));
        if (seed % 4 != 2)
            for (unsigned place = 0; place < ranks; ++place)
                by.overwrite(reinterpret_cast<std::byte*>(&s.rank_state(place)), sizeof(RankState));
        if (seed % 4 != 3)
            for (unsigned place = 0; place < ranks; ++place)
                by.overwrite(reinterpret_cast<std::byte*>(&s.call_statistics(place)), sizeof(CallStatistics));
        if (seed % 4 != 0) by.overwrite(base + at.traces, ranks * at.trace_bytes);
        by.overwrite(base + at.wait_targets, at.ring_rows - at.wait_targets);
        read_running(job);
        read_ended(job);
    }
}

}   // namespace
}   // namespace tutti::launcher
