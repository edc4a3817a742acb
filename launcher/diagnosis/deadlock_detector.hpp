// SPDX-License-Identifier: BSD-3-Clause
// Detects deadlocks in a job from the updates that its nodes send: published waits raise a suspicion, queries to the
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
    /// The ranks of the cores and behind them, sorted by rank. DeadlockDetector sets only `rank`, `changes` and `wait`;
    /// the ranks keep the rest published.
    std::vector<BlockedRank> blocked;
    std::vector<int> ended;   ///< ended ranks that are awaited

    /// Replaces the entries of `blocked` by what the ranks have published.
    void complete(std::vector<BlockedRank> const& published);
};

/// Limits how long a report is delayed until it is complete. A rank publishes where it is and what it waits for only
/// when a wait has lasted for 20 ms (runtime/wait/observers.cpp), later where cores are scarce, and never while it
/// computes.
class ReportDelay {
public:
    using Clock = std::chrono::steady_clock;

    static constexpr std::chrono::milliseconds max_delay{500};

    /// Returns true when the report is to be printed now: it is complete, or `max_delay` has passed since the first
    /// call.
    bool is_over(bool complete, Clock::time_point now) {
        if (!until_) until_ = now + max_delay;
        return complete || now >= *until_;
    }
    /// Returns when `is_over` will return true at the latest; the end of time before its first call.
    Clock::time_point due() const { return until_.value_or(Clock::time_point::max()); }

private:
    std::optional<Clock::time_point> until_;
};

/// Suspects deadlocks, queries the nodes, and proves them. Used by one thread.
class DeadlockDetector {
public:
    using Clock = std::chrono::steady_clock;
    using SendQuery = std::function<void(int node, WaitQuery const&)>;

    /// `node_of`: the node of each rank of the world; node numbers are arbitrary. `send_query` sends a query to a node,
    /// which answers in an update.
    DeadlockDetector(std::vector<int> node_of, SendQuery send_query);

    /// Adds the update of a node.
    void add(NodeUpdate const& update);
    /// Suspects and asks when it is time. Returns a proven deadlock once: immediately if every rank of the world is
    /// deadlocked or has ended, otherwise up to ReportDelay::max_delay later, with the ranks that begin to wait behind
    /// it in that time.
    std::optional<ProvenDeadlock> check(Clock::time_point now);
    /// Returns when check() must be called next if no update arrives before.
    Clock::time_point due() const;

private:
    struct PendingQuery {
        WaitQuery query;
        std::vector<int> nodes;
        std::size_t replies = 0;
        WaitReply sum;                        // of all nodes
        std::optional<WaitReply> first_sum;   // the sum of the first query; none before the second one
        bool disproved = false;
    };

    void evaluate_replies(Clock::time_point now);
    bool is_waiting_for_replies() const;
    void suspect();
    void send_second_query();
    bool is_proven() const;
    bool is_complete() const;
    ProvenDeadlock proven() const;

    std::vector<int> node_of_;
    SendQuery send_query_;
    std::vector<RankWait> waits_;          // by rank, as reported by the nodes
    std::vector<std::uint64_t> changes_;   // likewise
    bool has_update_ = false;              // a wait has changed since the last search for suspects
    Clock::time_point due_ = Clock::now();
    /// Pause after a query whose answers prove nothing. It doubles each time, because every query wakes all
    /// suspects; it halves when a search finds no suspects. Where cores are scarce, ranks publish waits long after
    /// these have ended, and most suspicions are wrong.
    std::chrono::milliseconds pause_;
    std::uint64_t last_query_number_ = 0;
    std::optional<PendingQuery> pending_;   // the query about `suspected_`
    Deadlock suspected_;
    std::optional<ProvenDeadlock> proven_;   // not returned yet; remains true whatever other ranks do
    ReportDelay delay_;
};

}   // namespace tutti::launcher
