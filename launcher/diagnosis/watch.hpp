// SPDX-License-Identifier: BSD-3-Clause
// Finds out from what the nodes of a job tell whether some of its ranks wait in vain: suspected from what they show,
// proven by questions. proof.md has the argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "launcher/diagnosis/blocked_ranks.hpp"
#include "launcher/diagnosis/node_watch.hpp"

namespace tutti::launcher {

/// A deadlock that is proven.
struct ProvenDeadlock {
    Deadlock ranks;
    std::vector<BlockedRank> blocked;   ///< those of the cores and behind them, by rank. Of the watch, no more than
                                        ///< what they wait for: they show the rest as long as one likes
    std::vector<int> ended;             ///< ranks that have ended, of those awaited
};

/// Limits how long a report waits until it is complete. A rank publishes where it is and what it waits for only when a
/// wait has lasted for 20 ms (runtime/wait/wait.cpp), later where cores are scarce, and never while it computes.
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

class DeadlockWatch {
public:
    using Clock = std::chrono::steady_clock;
    using Ask = std::function<void(int node, Question const&)>;

    /// `node_of`: by rank of the world, any numbers. `ask` puts a question to a node, which answers with its news.
    DeadlockWatch(std::vector<int> node_of, Ask ask);

    /// What a node tells.
    void hear(NodeNews const& news);
    /// Suspects and asks when it is time. Returns a proven deadlock once: immediately if every rank of the world is
    /// deadlocked or has ended, otherwise up to ReportDelay::longest later, with the ranks that begin to wait behind it
    /// in that time.
    std::optional<ProvenDeadlock> look(Clock::time_point now);
    /// When it is time again, if nothing is heard before.
    Clock::time_point due() const;

private:
    struct Asked {
        Question question;
        std::vector<int> nodes;
        std::size_t answers = 0;
        Answer sum;                    // of all nodes
        std::optional<Answer> first;   // the sum when they were asked before
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
    std::vector<RankWait> waits_;          // by rank, as the nodes have told
    std::vector<std::uint64_t> changes_;   // the same
    bool news_ = false;                    // of a wait, since the last look for suspects
    Clock::time_point due_ = Clock::now();
    /// After a question whose answers prove nothing; doubles with each, as every question wakes all of the suspects.
    /// Where cores are scarce, ranks show waits long after these are over, and most suspicions are wrong.
    std::chrono::milliseconds pause_;
    std::uint64_t questions_ = 0;
    std::optional<Asked> asked_;   // about `suspected_`
    Deadlock suspected_;
    std::optional<ProvenDeadlock> proven_;   // remains true whatever other ranks do; not returned yet
    ReportDelay delay_;
};

}   // namespace tutti::launcher
