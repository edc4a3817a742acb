// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/diagnosis/watch_node.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
#include <vector>

#include <unistd.h>

#include "launcher/diagnosis/report.hpp"
#include "launcher/diagnosis/watch.hpp"
#include "runtime/base/futex.hpp"
#include "runtime/base/process_identity.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/settings/launch.hpp"
#include "runtime/wait/bell.hpp"

namespace tutti::launcher {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds longest_sleep{50};

class WatchedNode {
public:
    /// Only of who has called MPI_Finalize is it certain that it does nothing more: a process may not be visible from
    /// here (containers), and one that has died is its launcher's affair.
    explicit WatchedNode(Segment const& segment)
        : segment_(segment), processes_(segment.ranks()), node_(segment, [](unsigned) { return true; }),
          deadlocks_(std::vector<int>(segment.layout().world_size),
                     [this](int, Question const& question) { node_.ask(question); }) {}

    /// What is wrong; none: no rank is left.
    std::optional<Report> watch() {
        while (anybody()) {
            Clock::time_point const now = Clock::now();
            if (std::optional<Report> found = finding(now)) return found;
            if (now >= node_.due()) deadlocks_.hear(node_.news(now));
            if (std::optional<ProvenDeadlock> found = deadlocks_.look(now)) return told(std::move(*found));
            Clock::time_point const due = std::min(node_.due(), deadlocks_.due());
            std::this_thread::sleep_until(std::min(due, now + longest_sleep));
        }
        return {};
    }

private:
    bool lives(unsigned place) {
        ProcessIdentity const process(segment_.rank_state(place).process.load(std::memory_order_relaxed));
        if (process.word() == 0) return true;   // not yet in MPI_Init
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
            if (segment_.rank_state(place).world_rank == rank) return &segment_.rank_state(place);
        return nullptr;
    }
    Place place_in(int rank, std::string_view call, std::vector<std::uint64_t> const& noted) const {
        RankState const* const state = state_of(rank);
        return state ? noted_place(*state, state->pid.load(std::memory_order_relaxed), call, noted) : Place{};
    }
    /// An error that a rank has found itself. Warnings they tell themselves.
    std::optional<Report> finding(Clock::time_point now) {
        for (unsigned place = 0; place < segment_.ranks(); ++place) {
            Finding const& finding = segment_.rank_state(place).finding;
            if (finding.kind.load(std::memory_order_acquire) != Finding::Kind::error) continue;
            bool const complete = shows_all_places(finding, [this](int rank) { return state_of(rank); });
            if (!finding_delay_.over(complete, now)) continue;
            return report_of(finding,
                             [this](int rank, auto call, auto const& stack) { return place_in(rank, call, stack); });
        }
        return {};
    }
    /// The watch knows what ranks wait for; the rest they still show.
    Report told(ProvenDeadlock deadlock) const {
        for (BlockedRank& one : deadlock.blocked)
            if (RankState const* state = state_of(one.rank))
                if (auto whole = read_blocked(*state)) one = std::move(*whole);
        return report_of(deadlock, [this](int rank, auto const& stack) { return place_in(rank, {}, stack); });
    }

    Segment const& segment_;
    std::vector<std::optional<ProcessWatch>> processes_;   // by place
    NodeWatch node_;
    DeadlockWatch deadlocks_;
    ReportDelay finding_delay_;
};

void end_job(Segment const& segment) {
    BellRinger const ringer;
    segment.header().verdict.store(launch::mistake_code, std::memory_order_release);
    for (unsigned place = 0; place < segment.ranks(); ++place) {
        RankState& rank_state = segment.rank_state(place);
        rank_state.wake.fetch_add(1, std::memory_order_release);
        if (rank_state.bell.load(std::memory_order_acquire) == 0) futex_wake(rank_state.wake, everybody);
        else ringer.ring(rank_state);
    }
}

}   // namespace

int watch_node(int descriptor) {
    std::signal(SIGPIPE, SIG_IGN);   // the rank that has started this process may be gone, and so may its output
    // Pipes of the program must end when it ends.
    close_range(static_cast<unsigned>(launch::watching_descriptor) + 1, ~0u, 0);
    Segment const segment = Segment::attach(descriptor);
    segment.header().watcher.store(ProcessIdentity::of(getpid()).word(), std::memory_order_relaxed);
    if (write(launch::watching_descriptor, "w", 1) < 0) {}   // the rank has gone meanwhile
    close(launch::watching_descriptor);
    WatchedNode node(segment);
    std::optional<Report> const found = node.watch();
    if (!found) return 0;
    std::string const text = text_of(*found, isatty(STDERR_FILENO) == 1);
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) {}   // nobody to tell that nobody can be told
    end_job(segment);
    return 0;
}

}   // namespace tutti::launcher
