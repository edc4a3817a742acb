// SPDX-License-Identifier: BSD-3-Clause
// Publishes a rank's threads that have waited for long (Blocked in runtime/state/call_record.hpp). Each thread adds
// its own wait, because only it can walk its stack; the leader (runtime/wait/waiting_threads.hpp) writes the record
// for all of them. Must be called with the rank's lock held.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "runtime/base/allowance.hpp"
#include "runtime/state/call_record.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti {

class Pollable;

class BlockedWaits {
public:
    /// `record` must stay valid as long as this object. `ranks_per_core`: number of ranks that share a core.
    explicit BlockedWaits(Blocked& record, unsigned ranks_per_core = 1)
        : record_(record), ranks_per_core_(ranks_per_core), allowance_(ranks_per_core) {}

    /// Returns true if publishing a wait at time `now` fits the rank's budget: the cost of stack and text is bounded.
    bool may_add(std::int64_t now) { return allowance_.grants(now); }

    /// Adds a wait of the calling thread; `wait` identifies it and `reason` must stay valid until it is removed.
    /// Returns false if there is no room, or if an enclosing wait of the same thread is published already.
    bool add(void const* wait, Reason const& reason);
    /// Removes a wait that is over. Withdraws the whole record until the remaining waits are published again.
    void remove(void const* wait, std::int64_t now);

    /// Declares threads that never call MPI, such as those of the launcher's library, by gettid().
    void exempt(std::vector<pid_t> threads) { exempt_ = std::move(threads); }

    std::size_t size() const { return waits_.size(); }
    /// Returns true if the record may have to be rewritten at `now` (now_ns()).
    bool is_due(std::int64_t now) const { return !waits_.empty() && now >= due_; }
    /// The rank's other threads. `exist`: the rank may have threads that could act. Whether they can is determined
    /// only if `all_asleep`: the caller's wait is published, and the threads of all other published waits sleep with
    /// false conditions. `progress_thread`: gettid() of the progress thread, 0: none.
    struct OtherThreads {
        bool exist = false, all_asleep = false;
        pid_t progress_thread = 0;
    };
    /// Publishes all waits as they are now; does nothing if the record is up to date.
    void publish(OtherThreads others, std::span<Pollable* const> pollables, std::int64_t now);

private:
    struct PublishedWait {
        void const* wait;
        Reason const* reason;
        pid_t thread;
        std::vector<std::uint64_t> stack;
        std::string script;
        std::int64_t since;   ///< when it was added
    };

    bool no_thread_can_act(OtherThreads others, std::int64_t now) const;
    void write(std::vector<BlockedCall> const& blocked_calls);

    Blocked& record_;
    std::int64_t const ranks_per_core_;
    Allowance allowance_;
    std::vector<pid_t> exempt_;
    std::vector<PublishedWait> waits_;     ///< oldest first
    std::vector<BlockedCall> published_;   ///< as published
    std::int64_t due_ = 0, pause_ns_ = 0;
};

}   // namespace tutti
