// SPDX-License-Identifier: BSD-3-Clause
// A loop that polls the segment of the node at least every 50 ms: messages, findings, ends, deadlocks, and stillness.
// The ranks write the segment at the same time: their states are read with acquire, and answered with release.
#include "launcher/supervise/watch_node.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "launcher/diagnosis/deadlock_detector.hpp"
#include "launcher/diagnosis/node_monitor.hpp"
#include "launcher/diagnosis/report.hpp"
#include "launcher/placement/allocation.hpp"
#include "launcher/supervise/abort_messages.hpp"
#include "launcher/supervise/rank_exit.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/flag.hpp"
#include "runtime/base/process_identity.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/settings/launch.hpp"
#include "runtime/settings/variables.hpp"
#include "runtime/wait/bell.hpp"

namespace tutti::launcher {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds longest_sleep{50};
constexpr std::chrono::milliseconds for_noted_ends{100};   // wait for ranks that end in the same way
// Wait before an end that was not recorded is reported: a launcher that ends a job kills its ranks one after the other.
constexpr std::chrono::milliseconds for_the_others{500};

/// Returns the settings of the ranks: a rank has started this process, with its environment.
Variables variables_of_ranks() {
    std::vector<std::string> complaints;   // printed by the ranks
    return read_variables(environ, complaints);
}

/// How a rank's process ends, as far as it is known.
struct NotedEnd {
    unsigned place;
    std::string how;   ///< as in RankEnd
    int signal;        ///< 0: none
    int code;          ///< exit code of the job
    bool noted;        ///< recorded by the rank itself, which waits for the report
};

class WatchedNode {
public:
    /// All ranks count as alive for the deadlock detector: a process may not be visible from here (containers), so only
    /// a rank that has called MPI_Finalize is certain to do nothing more.
    explicit WatchedNode(Segment const& segment)
        : segment_(segment), processes_(segment.ranks()), heard_(segment.ranks()),
          node_(segment, [](unsigned) { return true; }),
          deadlocks_(std::vector<int>(segment.layout().world_size),
                     [this](int, Question const& question) { node_.ask(question); }),
          stillness_(
              segment, [this](unsigned place) { return lives(place); }, polling_limit_) {}

    /// Returns when no rank of the node is alive.
    void watch() {
        while (anybody()) {
            Clock::time_point const now = Clock::now();
            hear_last_words(now);
            hear_findings(now);
            if (!ending_) hear_ends(now);
            else release_ended();
            if (!ending_) look_for_deadlock(now);
            if (!ending_) look_for_stillness(now);
            if (asked_for_warnings()) print_warnings();
            Clock::time_point due = now + longest_sleep;
            if (!words_.empty()) due = std::min(due, words_since_ + HeldWords::longest);
            if (!ending_) due = std::min({due, node_.due(), deadlocks_.due()});
            std::this_thread::sleep_until(due);
        }
        // All ranks ended at the same time: what they have recorded about their end is certain.
        if (std::vector<NotedEnd> const ends = noted_ends(); !ending_ && !ends.empty() && ends.front().noted)
            report_ends(ends);
        print_warnings();
    }

private:
    RankState& rank_at(unsigned place) const { return segment_.rank_state(place); }
    RankPhase phase(unsigned place) const { return rank_at(place).state.load(std::memory_order_acquire); }

    bool lives(unsigned place) {
        ProcessIdentity const process(rank_at(place).process.load(std::memory_order_relaxed));
        if (process.word() == 0) return true;   // not in MPI_Init yet
        std::optional<ProcessWatch>& seen = processes_[place];
        if (!seen || seen->process().word() != process.word()) seen.emplace(process);
        return seen->lives();
    }
    bool anybody() {
        for (unsigned place = 0; place < segment_.ranks(); ++place)
            if (lives(place)) return true;
        return false;
    }

    RankState const* state_of(int rank) const {
        for (unsigned place = 0; place < segment_.ranks(); ++place)
            if (rank_at(place).world_rank == rank) return &rank_at(place);
        return nullptr;
    }
    Place place_in(int rank, std::string_view call, std::vector<std::uint64_t> const& noted) {
        RankState const* const state = state_of(rank);
        return state ? noted_place(*state, state->pid.load(std::memory_order_relaxed), call, noted, &lines_) : Place{};
    }

    /// Merges and prints last messages of ranks. A rank that ends the job waits until its message has been printed.
    void hear_last_words(Clock::time_point now) {
        for (unsigned place = 0; place < segment_.ranks(); ++place) {
            if (heard_[place] || rank_at(place).last_words.state.load(std::memory_order_acquire) != NotedWords::said)
                continue;
            std::optional<LastWords> words = last_words_on(&rank_at(place));
            if (!words) continue;
            if (words_.empty()) words_since_ = now;
            if (words->place.words.empty()) words->place = place_in(words->rank, {}, words->stack);
            heard_[place] = ending_ = true;
            words_.push_back(place);
            if (std::ranges::none_of(errors_, [&](Report& report) { return add_to(report, *words); }))
                errors_.push_back(report_of(*words));
        }
        if (words_.empty() || now < words_since_ + HeldWords::longest) return;
        for (Report const& report : errors_)
            if (std::ranges::none_of(told_, [&](Report const& one) {
                    return one.code == report.code && one.headline == report.headline;
                }))
                print(report);
        told_.insert(told_.end(), errors_.begin(), errors_.end());
        errors_.clear();
        print_warnings();
        for (unsigned place : words_)
            rank_at(place).last_words.state.store(NotedWords::heard, std::memory_order_release);
        words_.clear();
    }

    /// Handles errors and warnings that ranks have found themselves. Only the first error is reported, and ends the
    /// job.
    void hear_findings(Clock::time_point now) {
        auto const place = [this](int rank, auto call, auto const& stack) { return place_in(rank, call, stack); };
        for (unsigned i = 0; i < segment_.ranks(); ++i) {
            Finding& finding = rank_at(i).finding;
            Finding::Kind kind = finding.kind.load(std::memory_order_acquire);
            if (kind == Finding::Kind::warning) {
                Report const report = report_of(finding, place);
                if (finding.kind.compare_exchange_strong(kind, Finding::Kind::nothing, std::memory_order_acq_rel))
                    warnings_.add(report);
            } else if (kind == Finding::Kind::error && !ending_) {
                bool const complete = shows_all_places(finding, [this](int rank) { return state_of(rank); });
                if (finding_delay_.over(complete, now)) end_by(report_of(finding, place), launch::mistake_code);
            }
        }
    }

    /// Returns true if all ranks have finalised and at least one waits until its warnings are printed.
    bool asked_for_warnings() {
        bool asked = false;
        for (unsigned place = 0; place < segment_.ranks(); ++place) {
            asked |= rank_at(place).finding.kind.load(std::memory_order_acquire) == Finding::Kind::print_warnings;
            if (phase(place) != RankPhase::finalised && lives(place)) return false;
        }
        return asked;
    }
    void print_warnings() {
        for (Report const& report : warnings_.all()) print(report);
        warnings_ = {};
        for (unsigned place = 0; place < segment_.ranks(); ++place) {
            auto kind = Finding::Kind::print_warnings;
            rank_at(place).finding.kind.compare_exchange_strong(kind, Finding::Kind::nothing,
                                                                std::memory_order_acq_rel);
        }
    }

    /// The detector only knows what ranks wait for; the rest is read from what they still publish.
    void look_for_deadlock(Clock::time_point now) {
        if (now >= node_.due()) deadlocks_.hear(node_.news(now));
        std::optional<ProvenDeadlock> deadlock = deadlocks_.look(now);
        if (!deadlock) return;
        for (BlockedRank& one : deadlock->blocked)
            if (RankState const* state = state_of(one.rank))
                if (auto whole = read_blocked(*state)) one = std::move(*whole);
        end_by(report_of(*deadlock, [this](int rank, auto const& stack) { return place_in(rank, {}, stack); }),
               launch::mistake_code);
    }

    /// Prints one warning. This process observes the ranks of one node, so it warns only if these are the whole job.
    void look_for_stillness(Clock::time_point now) {
        bool const sees_all = segment_.ranks() == static_cast<unsigned>(segment_.layout().world_size);
        if (still_told_ || variables_.quiet || !sees_all) return;
        Still const change = stillness_.change(now, now_ns());
        still_.nodes += change.nodes;
        still_.polling += change.polling;
        if (still_.nodes == 0 || still_.polling == 0) return;
        still_told_ = true;
        std::vector<PlacedRank> ranks;
        for (unsigned place = 0; place < segment_.ranks(); ++place) {
            auto seen = read_blocked(rank_at(place));
            if (!seen) seen = read_polling(rank_at(place), now_ns());
            if (!seen) continue;
            seen->rank = rank_at(place).world_rank;
            Place const at = place_of(rank_at(place).pid.load(std::memory_order_relaxed), *seen, &lines_);
            ranks.push_back({*std::move(seen), at});
        }
        print(still_report(ranks, polling_limit_));
    }

    /// Handles ranks that have ended, or have recorded that they do, without MPI_Finalize. An end that was not recorded
    /// is reported only if another rank waits for that rank: a user who ends a whole job from outside needs no report.
    void hear_ends(Clock::time_point now) {
        std::vector<NotedEnd> const ends = noted_ends();
        if (ends.empty()) return void(ends_since_.reset());
        if (!ends_since_) ends_since_ = now;
        if (now < *ends_since_ + (ends.front().noted ? for_noted_ends : for_the_others)) return;
        if (ends.front().noted || !waiting_for(rank_at(ends.front().place).world_rank).empty()) report_ends(ends);
    }
    /// Reports the first end and those that are like it.
    void report_ends(std::vector<NotedEnd> ends) {
        NotedEnd const first = ends.front();
        std::erase_if(ends, [&](NotedEnd const& end) { return end.how != first.how; });
        std::vector<ReportLine> const waiting = waiting_for(rank_at(first.place).world_rank);
        Report report = report_of_noted(ends, first.signal);
        report.lines.insert(report.lines.end(), waiting.begin(), waiting.end());
        end_by(report, first.code);
        release_ended();
    }
    /// Releases ranks that end while the job ends: they need not wait for a report.
    void release_ended() {
        for (NotedEnd const& end : noted_ends())
            if (end.noted) rank_at(end.place).last_call.end.store(LastCall::End::reported, std::memory_order_release);
    }
    /// Returns the ends so far; those recorded by the ranks themselves come first.
    std::vector<NotedEnd> noted_ends() {
        std::vector<NotedEnd> ends;
        for (unsigned place = 0; place < segment_.ranks(); ++place) {
            LastCall const& call = rank_at(place).last_call;
            LastCall::End const end = call.end.load(std::memory_order_acquire);
            if (phase(place) != RankPhase::initialised || end == LastCall::End::reported) continue;
            if (end == LastCall::End::crashes) {
                ends.push_back({place, end_words(call.crash_signal), call.crash_signal, 128 + call.crash_signal, true});
            } else if (end == LastCall::End::exits) {
                int const code = call.exit_code & 255;
                ends.push_back({place, end_words(W_EXITCODE(code, 0)), 0, code != 0 ? code : 1, true});
            } else if (!lives(place)) {
                ends.push_back({place, "ended without calling MPI_Finalize", 0, 1, false});
            }
        }
        std::ranges::stable_sort(ends, std::ranges::greater{}, [](NotedEnd const& end) { return end.noted; });
        return ends;
    }
    Report report_of_noted(std::vector<NotedEnd> const& noted, int signal) const {
        std::vector<RankEnd> ends;
        for (NotedEnd const& one : noted) {
            RankState const& rank = rank_at(one.place);
            std::string const process = join("process ", rank.pid.load(std::memory_order_relaxed), " on ", host_name());
            bool const named = !one.noted || signal != 0;
            ends.push_back({rank.world_rank, one.how, named ? process : "", &rank.last_call});
        }
        return report_of_ends(ends, signal);
    }
    std::vector<ReportLine> waiting_for(int ended) {
        std::vector<ReportLine> lines;
        for (unsigned place = 0; place < segment_.ranks(); ++place) {
            if (rank_at(place).world_rank == ended || !lives(place)) continue;
            auto const blocked = read_blocked(rank_at(place));
            if (!blocked || !awaits(blocked->wait, ended)) continue;
            Place const at = place_of(rank_at(place).pid.load(std::memory_order_relaxed), *blocked, &lines_);
            lines.push_back({{rank_at(place).world_rank}, blocked->call, at.words, join("waiting for rank ", ended)});
        }
        return lines;
    }

    void end_by(Report const& report, int code) {
        ending_ = true;
        print(report);
        print_warnings();
        BellRinger const ringer;
        segment_.header().verdict.store(static_cast<std::uint32_t>(code), std::memory_order_release);
        for (unsigned place = 0; place < segment_.ranks(); ++place) {
            rank_at(place).wake.fetch_add(1, std::memory_order_release);
            RankState& rank_state = rank_at(place);
            if (rank_state.bell.load(std::memory_order_acquire) == 0) futex_wake(rank_state.wake, everybody);
            else ringer.ring(rank_state);
        }
    }
    static void print(Report const& report) {
        std::string const text = text_of(report, isatty(STDERR_FILENO) == 1);
        if (write(STDERR_FILENO, text.data(), text.size()) < 0) {}   // errors cannot be reported anywhere else
    }

    Segment const& segment_;
    std::vector<std::optional<ProcessWatch>> processes_;   // by local rank
    std::vector<bool> heard_;                              // by local rank: its last message is known
    NodeWatch node_;
    DeadlockWatch deadlocks_;
    Variables const variables_ = variables_of_ranks();
    std::chrono::seconds const polling_limit_{variables_.polling_limit};
    Stillness stillness_;
    Still still_;
    bool still_told_ = false;
    ReportDelay finding_delay_;
    KnownLines lines_;
    Warnings warnings_;
    std::vector<Report> errors_, told_;   // reports of last messages: not printed yet, and printed
    std::vector<unsigned> words_;         // local ranks whose last messages are not printed yet
    Clock::time_point words_since_;
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
    close_range(static_cast<unsigned>(launch::watching_descriptor) + 1, ~0u, 0);
    Segment const segment = Segment::attach(descriptor);
    segment.header().watcher.store(ProcessIdentity::of(getpid()).word(), std::memory_order_relaxed);
    if (write(launch::watching_descriptor, "w", 1) < 0) {}   // the rank may have gone meanwhile
    close(launch::watching_descriptor);
    WatchedNode(segment).watch();
    return 0;
}

}   // namespace tutti::launcher
