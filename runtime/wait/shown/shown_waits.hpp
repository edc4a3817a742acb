// SPDX-License-Identifier: BSD-3-Clause
// What a rank shows of its threads that have waited for long (runtime/counters/blocked.hpp). Each thread adds its wait
// itself, for only it knows its stack; the one that leads (runtime/wait/wait.hpp) shows them all. All of it happens
// inside the rank's lock.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "runtime/base/allowance.hpp"
#include "runtime/counters/blocked.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti {

class Pollable;

class ShownWaits {
public:
    /// `shown` outlives it. `sharing`: ranks that share a core.
    explicit ShownWaits(Blocked& shown, unsigned sharing = 1) : shown_(shown), sharing_(sharing), allowance_(sharing) {}

    /// Returns true if the rank can afford to show a wait at `now`: what that takes (stack, text) is bounded.
    bool may_add(std::int64_t now) { return allowance_.grants(now); }

    /// A wait of the calling thread; `wait` is its name here, `why` stays until it is removed. False: there is no room,
    /// or it is inside another one of the same thread, which is shown.
    bool add(void const* wait, Reason const& why);
    /// It is over. Until the others are shown again, nothing is.
    void remove(void const* wait, std::int64_t now);

    /// Threads that never call MPI, such as those of the launcher's library, by gettid().
    void exempt(std::vector<pid_t> threads) { exempt_ = std::move(threads); }

    std::size_t size() const { return waits_.size(); }
    /// What is shown may have to be shown anew, by now_ns().
    bool due(std::int64_t now) const { return !waits_.empty() && now >= due_; }
    /// Who else there is: with `several`, other threads may act, which is asked while the caller's wait is shown and
    /// all others sleep with a condition that is false (`asleep`). `helper`: the progress thread's gettid(), 0: none.
    struct Company {
        bool several = false, asleep = false;
        pid_t helper = 0;
    };
    /// Shows all waits, as they are now; nothing changes if that is shown already.
    void show(Company company, std::span<Pollable* const> pollables, std::int64_t now);

private:
    struct Wait {
        void const* wait;
        Reason const* why;
        pid_t thread;
        std::vector<std::uint64_t> stack;
        std::string script;
        std::int64_t since;   ///< when it was added
    };

    bool alone(Company company, std::int64_t now) const;
    void write(std::vector<Blockage> const& blockages);

    Blocked& shown_;
    std::int64_t const sharing_;
    Allowance allowance_;
    std::vector<pid_t> exempt_;
    std::vector<Wait> waits_;           ///< the oldest first
    std::vector<Blockage> blockages_;   ///< as they are shown
    std::int64_t due_ = 0, pause_ns_ = 0;
};

}   // namespace tutti
