// SPDX-License-Identifier: BSD-3-Clause
// A loop that polls the segment of the node at least every 50 ms: messages, diagnostics, ends of ranks, deadlocks, and
// stalls. The ranks write the segment at the same time: their states are read with acquire, and answered with release.
#include "launcher/supervise/supervisor.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "apps/terminal.hpp"
#include "launcher/base/text.hpp"
#include "launcher/diagnosis/deadlock_detector.hpp"
#include "launcher/diagnosis/node_monitor.hpp"
#include "launcher/diagnosis/node_ranks.hpp"
#include "launcher/diagnosis/report.hpp"
#include "launcher/placement/allocation.hpp"
#include "launcher/supervise/abort_messages.hpp"
#include "launcher/supervise/rank_exit.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/process_identity.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/settings/launch.hpp"
#include "runtime/settings/variables.hpp"
#include "runtime/wait/bell.hpp"

namespace tutti::launcher {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds longest_sleep{50};
// Wait before an end that was not recorded is reported: a launcher that ends a job kills its ranks one after the other.
constexpr std::chrono::milliseconds unrecorded_end_delay{500};

/// Returns the settings of the ranks: a rank has started this process, with its environment.
Variables variables_of_ranks() {
    std::vector<std::string> diagnostics;   // printed by the ranks
    return read_variables(environ, diagnostics);
}

/// How a rank's process ends, as far as it is known.
struct RecordedEnd {
    unsigned local_rank;
    std::optional<int> status;   ///< as in ProcessExit. Set if the rank has recorded it, which waits for the report

    bool recorded() const { return status.has_value(); }
};

class WatchedNode {
public:
    /// All ranks count as alive for the deadlock detector: a process may not be visible from here (containers), so only
    /// a rank that has called MPI_Finalize is certain to do nothing more.
    explicit WatchedNode(Segment const& segment)
        : segment_(segment), processes_(segment.ranks()), message_read_(segment.ranks()),
          ranks_(segment, [this](unsigned local_rank) { return state_at(local_rank).pid.load(); }),
          node_(segment, [](unsigned) { return true; }),
          deadlocks_(std::vector<int>(segment.layout().world_size),
                     [this](int, WaitQuery const& query) { node_.start_query(query); }),
          stall_detector_(
              segment, [this](unsigned local_rank) { return is_alive(local_rank); }, polling_limit_) {}

    /// Returns when no rank of the node is alive.
    void watch() {
        while (any_alive()) {
            Clock::time_point const now = Clock::now();
            handle_abort_messages(now);
            handle_diagnostics(now);
            if (!ending_) handle_ends(now);
            else release_ended();
            if (!ending_) check_for_deadlock(now);
            if (!ending_) check_for_stall(now);
            if (warnings_requested()) print_warnings();
            Clock::time_point due = now + longest_sleep;
            if (!unprinted_messages_.empty()) due = std::min(due, messages_since_ + MessageMerger::max_delay);
            if (!ending_) due = std::min({due, node_.due(), deadlocks_.due()});
            std::this_thread::sleep_until(due);
        }
        // All ranks ended at the same time: what they have recorded about their end is certain.
        if (std::vector<RecordedEnd> const ends = recorded_ends(); !ending_ && !ends.empty() && ends.front().recorded())
            report_ends(ends);
        print_warnings();
    }

private:
    RankState& state_at(unsigned local_rank) const { return segment_.rank_state(local_rank); }
    RankPhase phase(unsigned local_rank) const { return state_at(local_rank).state.load(std::memory_order_acquire); }

    bool is_alive(unsigned local_rank) {
        ProcessIdentity const process(state_at(local_rank).process.load(std::memory_order_relaxed));
        if (process.word() == 0) return true;   // not in MPI_Init yet
        std::optional<ProcessWatch>& watch = processes_[local_rank];
        if (!watch || watch->process().word() != process.word()) watch.emplace(process);
        return watch->is_alive();
    }
    bool any_alive() {
        for (unsigned local_rank = 0; local_rank < segment_.ranks(); ++local_rank)
            if (is_alive(local_rank)) return true;
        return false;
    }

    /// Merges and prints last messages of ranks. A rank that ends the job waits until its message has been printed.
    void handle_abort_messages(Clock::time_point now) {
        for (unsigned local_rank = 0; local_rank < segment_.ranks(); ++local_rank) {
            if (message_read_[local_rank] ||
                state_at(local_rank).abort_message.state.load(std::memory_order_acquire) != AbortMessage::written)
                continue;
            std::optional<RankAbortMessage> message = read_abort_message(&state_at(local_rank));
            if (!message) continue;
            if (unprinted_messages_.empty()) messages_since_ = now;
            LocatedCall& call = message->call;
            if (call.position.text.empty())
                call.position = ranks_.position_of({.rank = call.rank, .stack = call.stack});
            message_read_[local_rank] = ending_ = true;
            unprinted_messages_.push_back(local_rank);
            if (std::ranges::none_of(errors_, [&](Report& report) { return add_to(report, *message); }))
                errors_.push_back(make_report(*message));
        }
        if (unprinted_messages_.empty() || now < messages_since_ + MessageMerger::max_delay) return;
        for (Report const& report : errors_)
            if (std::ranges::none_of(printed_errors_, [&](Report const& one) {
                    return one.code == report.code && one.headline == report.headline;
                }))
                print(report);
        printed_errors_.insert(printed_errors_.end(), errors_.begin(), errors_.end());
        errors_.clear();
        print_warnings();
        for (unsigned local_rank : unprinted_messages_)
            state_at(local_rank).abort_message.state.store(AbortMessage::read, std::memory_order_release);
        unprinted_messages_.clear();
    }

    /// Handles errors and warnings that ranks have found themselves. Only the first error is reported, and ends the
    /// job.
    void handle_diagnostics(Clock::time_point now) {
        for (Report const& report : ranks_.take_diagnostics(now)) {
            if (report.severity == Report::Severity::warning) warnings_.add(report);
            else if (!ending_) end_with(report, launch::program_error_code);
        }
    }

    /// Returns true if all ranks have finalised and at least one waits until its warnings are printed.
    bool warnings_requested() {
        bool asked = false;
        for (unsigned local_rank = 0; local_rank < segment_.ranks(); ++local_rank) {
            asked |= state_at(local_rank).diagnostic.kind.load(std::memory_order_acquire) ==
                     Diagnostic::Kind::print_warnings;
            if (phase(local_rank) != RankPhase::finalised && is_alive(local_rank)) return false;
        }
        return asked;
    }
    void print_warnings() {
        for (Report const& report : warnings_.all()) print(report);
        warnings_ = {};
        for (unsigned local_rank = 0; local_rank < segment_.ranks(); ++local_rank) {
            auto kind = Diagnostic::Kind::print_warnings;
            state_at(local_rank)
                .diagnostic.kind.compare_exchange_strong(kind, Diagnostic::Kind::none, std::memory_order_acq_rel);
        }
    }

    /// The detector only knows what ranks wait for; the rest is read from what they still publish.
    void check_for_deadlock(Clock::time_point now) {
        if (now >= node_.due()) deadlocks_.add(node_.collect_update(now));
        std::optional<ProvenDeadlock> deadlock = deadlocks_.check(now);
        if (!deadlock) return;
        deadlock->complete(ranks_.waiting_ranks(false));
        end_with(make_report(*deadlock), launch::program_error_code);
    }

    /// Prints one warning. This process observes the ranks of one node, so it warns only if these are the whole job.
    void check_for_stall(Clock::time_point now) {
        bool const sees_all = segment_.ranks() == static_cast<unsigned>(segment_.layout().world_size);
        if (stall_reported_ || variables_.quiet || !sees_all) return;
        stall_ += stall_detector_.check(now, now_ns());
        if (stall_.nodes == 0 || stall_.polling == 0) return;
        stall_reported_ = true;
        print(make_stall_report(ranks_.waiting_ranks(true), polling_limit_));
    }

    /// Handles ranks that have ended, or have recorded that they do, without MPI_Finalize. An end that was not recorded
    /// is reported only if another rank waits for that rank: a user who ends a whole job from outside needs no report.
    void handle_ends(Clock::time_point now) {
        std::vector<RecordedEnd> const ends = recorded_ends();
        if (ends.empty()) return void(ends_since_.reset());
        if (!ends_since_) ends_since_ = now;
        if (now < *ends_since_ + (ends.front().recorded() ? similar_exits_wait : unrecorded_end_delay)) return;
        if (ends.front().recorded() || !waiting_ranks(ranks_.world_rank(ends.front().local_rank)).empty())
            report_ends(ends);
    }
    /// Reports the first end and those that are like it.
    void report_ends(std::vector<RecordedEnd> const& ends) {
        std::vector<RankExit> exits;
        for (RecordedEnd const& end : ends) {
            RankState const& rank = state_at(end.local_rank);
            exits.push_back(classify_exit({.rank = rank.world_rank,
                                           .pid = rank.pid.load(std::memory_order_relaxed),
                                           .status = end.status,
                                           .phase = RankPhase::initialised},
                                          host_name()));
            exits.back().in_mpi->locate(rank.last_call);
        }
        int const code = exits.front().code;
        std::vector<ExitedRank> alike = take_alike(exits);
        end_with(make_exit_report(std::move(alike), waiting_ranks()), code);
        release_ended();
    }
    /// Releases ranks that end while the job ends: they need not wait for a report.
    void release_ended() {
        for (RecordedEnd const& end : recorded_ends())
            if (end.recorded())
                state_at(end.local_rank).last_call.end.store(LastCall::End::reported, std::memory_order_release);
    }
    /// Returns the ends so far; those recorded by the ranks themselves come first.
    std::vector<RecordedEnd> recorded_ends() {
        std::vector<RecordedEnd> ends;
        for (unsigned local_rank = 0; local_rank < segment_.ranks(); ++local_rank) {
            LastCall const& call = state_at(local_rank).last_call;
            LastCall::End const end = call.end.load(std::memory_order_acquire);
            if (phase(local_rank) != RankPhase::initialised || end == LastCall::End::reported) continue;
            if (end == LastCall::End::crashes) ends.push_back({local_rank, W_EXITCODE(0, call.crash_signal)});
            else if (end == LastCall::End::exits) ends.push_back({local_rank, W_EXITCODE(call.exit_code & 255, 0)});
            else if (!is_alive(local_rank)) ends.push_back({local_rank, {}});
        }
        std::ranges::stable_sort(ends, std::ranges::greater{}, &RecordedEnd::recorded);
        return ends;
    }
    /// `awaited`: only those that wait for this rank.
    std::vector<BlockedRank> waiting_ranks(std::optional<int> awaited = {}) {
        return ranks_.waiting_ranks(false, [&](BlockedRank const& one) {
            return (!awaited || awaits(one.wait, *awaited)) && is_alive(*ranks_.local_rank_of(one.rank));
        });
    }

    void end_with(Report const& report, int code) {
        ending_ = true;
        print(report);
        print_warnings();
        BellRinger const ringer;
        segment_.header().end_code.store(static_cast<std::uint32_t>(code), std::memory_order_release);
        for (unsigned local_rank = 0; local_rank < segment_.ranks(); ++local_rank) ringer.wake(state_at(local_rank));
    }
    static void print(Report const& report) {
        std::string const text = text_of(report, apps::has_colours(isatty(STDERR_FILENO) == 1));
        if (write(STDERR_FILENO, text.data(), text.size()) < 0) {}   // errors cannot be reported anywhere else
    }

    Segment const& segment_;
    std::vector<std::optional<ProcessWatch>> processes_;   // by local rank
    std::vector<bool> message_read_;                       // by local rank: its last message is known
    NodeRanks ranks_;
    NodeMonitor node_;
    DeadlockDetector deadlocks_;
    Variables const variables_ = variables_of_ranks();
    std::chrono::seconds const polling_limit_{variables_.polling_limit};
    StallDetector stall_detector_;
    StallState stall_;
    bool stall_reported_ = false;
    Warnings warnings_;
    std::vector<Report> errors_, printed_errors_;   // reports of last messages: not printed yet, and printed
    std::vector<unsigned> unprinted_messages_;      // local ranks whose last messages are not printed yet
    Clock::time_point messages_since_;
    std::optional<Clock::time_point> ends_since_;
    bool ending_ = false;   // the job ends: all later events are consequences
};

}   // namespace

int watch_node(int descriptor) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);   // this process was started with all signals blocked
    std::signal(SIGPIPE, SIG_IGN);   // the rank that has started this process may be gone, and its output with it
    // Pipes of the program must end when it ends.
    close_range(static_cast<unsigned>(launch::watchdog_ready_fd) + 1, ~0u, 0);
    Segment const segment = Segment::attach(descriptor);
    segment.header().watchdog.store(ProcessIdentity::of(getpid()).word(), std::memory_order_relaxed);
    if (write(launch::watchdog_ready_fd, "w", 1) < 0) {}   // the rank may have gone meanwhile
    close(launch::watchdog_ready_fd);
    WatchedNode(segment).watch();
    return 0;
}

}   // namespace tutti::launcher
