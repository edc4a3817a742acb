// SPDX-License-Identifier: BSD-3-Clause
// Detects deadlocks in a job from the news that its nodes send: published waits raise a suspicion, questions to the
// nodes prove it. launcher/diagnosis/proof.md has the argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "launcher/diagnosis/blocked_ranks.hpp"
#include "launcher/diagnosis/node_monitor.hpp"

namespace tutti::launcher {

/// A deadlock that is proven.
struct ProvenDeadlock {
    Deadlock ranks;
    /// The ranks of the cores and behind them, sorted by rank. DeadlockWatch sets only `rank`, `changes` and `wait`;
    /// the ranks keep the rest published.
    std::vector<BlockedRank> blocked;
    std::vector<int> ended;   ///< ended ranks that are awaited
};

/// Limits how long a report is delayed until it is complete. A rank publishes where it is and what it waits for only
/// when a wait has lasted for 20 ms (runtime/wait/observers.cpp), later where cores are scarce, and never while it
/// computes.
class ReportDelay {
public:
    using Clock = std::chrono::steady_clock;

    static constexpr std::chrono::milliseconds longest{500};

    /// Returns true when the report is to be printed now: it is complete, or `longest` has passed since the first call.
    bool over(bool complete, Clock::time_point now) {
        if (!until_) until_ = now + longest;
        return complete || now >= *until_;
    }
    /// Returns when `over` will return true at the latest; the end of time before its first call.
    Clock::time_point due() const { return until_.value_or(Clock::time_point::max()); }

private:
    std::optional<Clock::time_point> until_;
};

/// Suspects deadlocks, questions the nodes, and proves them. Used by one thread.
class DeadlockWatch {
public:
    using Clock = std::chrono::steady_clock;
    using Ask = std::function<void(int node, Question const&)>;

    /// `node_of`: the node of each rank of the world; node numbers are arbitrary. `ask` sends a question to a node,
    /// which answers in its news.
    DeadlockWatch(std::vector<int> node_of, Ask ask);

    /// Adds the news of a node.
    void hear(NodeNews const& news);
    /// Suspects and asks when it is time. Returns a proven deadlock once: immediately if every rank of the world is
    /// deadlocked or has ended, otherwise up to ReportDelay::longest later, with the ranks that begin to wait behind it
    /// in that time.
    std::optional<ProvenDeadlock> look(Clock::time_point now);
    /// Returns when look() must be called next if no news arrives before.
    Clock::time_point due() const;

private:
    struct Asked {
        Question question;
        std::vector<int> nodes;
        std::size_t answers = 0;
        Answer sum;                    // of all nodes
        std::optional<Answer> first;   // the sum of the first question; none before the second one
        bool refused = false;
    };

    void look_at_answers(Clock::time_point now);
    bool waits_for_nodes() const;
    void suspect();
    void ask();
    bool proves() const;
    bool knows_all() const;
    ProvenDeadlock proven() const;

    std::vector<int> node_of_;
    Ask ask_;
    std::vector<RankWait> waits_;          // by rank, as reported by the nodes
    std::vector<std::uint64_t> changes_;   // likewise
    bool news_ = false;                    // a wait has changed since the last search for suspects
    Clock::time_point due_ = Clock::now();
    /// Pause after a question whose answers prove nothing. It doubles each time, because every question wakes all
    /// suspects; it halves when a search finds no suspects. Where cores are scarce, ranks publish waits long after
    /// these have ended, and most suspicions are wrong.
    std::chrono::milliseconds pause_;
    std::uint64_t questions_ = 0;
    std::optional<Asked> asked_;   // the question about `suspected_`
    Deadlock suspected_;
    std::optional<ProvenDeadlock> proven_;   // not returned yet; remains true whatever other ranks do
    ReportDelay delay_;
};

}   // namespace tutti::launcher
