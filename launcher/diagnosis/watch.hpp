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
#include "launcher/diagnosis/report_delay.hpp"

namespace tutti::launcher {

/// A deadlock that is proven.
struct ProvenDeadlock {
    Deadlock ranks;
    std::vector<BlockedRank> blocked;   ///< those of the cores and behind them, by rank. Of the watch, no more than
                                        ///< what they wait for: they show the rest as long as one likes
    std::vector<int> ended;             ///< ranks that have ended, of those awaited
};

class DeadlockWatch {
public:
    using Clock = std::chrono::steady_clock;
    using Ask = std::function<void(int node, Question const&)>;

    /// `node_of`: by rank of the world, any numbers. `ask` puts a question to a node, which answers with its news.
    DeadlockWatch(std::vector<int> node_of, Ask ask);

    /// What a node tells.
    void hear(NodeNews const& news);
    /// Suspects, asks, when it is time. A deadlock that is proven is returned once, a little later if not all ranks
    /// have shown what they do: with those who have come to wait behind it meanwhile.
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
    std::uint64_t questions_ = 0;
    std::optional<Asked> asked_;   // about `suspected_`
    Deadlock suspected_;
    std::optional<ProvenDeadlock> proven_;   // stays one, whatever other ranks do
    ReportDelay delay_;
};

}   // namespace tutti::launcher
