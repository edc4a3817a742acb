// SPDX-License-Identifier: BSD-3-Clause
// Waits for an action that another process completes without waiting for anything itself. Unlike Waiter::wait_until
// they may happen inside a poll, with the rank's lock held, and nothing is polled meanwhile. Those for a rank take
// microseconds. It may have lost its core, so they sleep after a few polls; it may have ended, so they check for that
// while they sleep.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>

#include "runtime/base/flag.hpp"

namespace tutti {

/// Polls `condition` at most `polls` times. Returns its last result.
template <class Condition>
[[gnu::always_inline]] inline bool poll_briefly(int polls, Condition&& condition) {
    for (;;) {
        if (condition()) return true;
        if (--polls <= 0) return false;
        cpu_pause();
    }
}

/// Polls of a short wait before it sleeps: about 3 µs.
inline constexpr int short_wait_polls = 64;

/// A lock in memory shared between processes, held for microseconds. Its word is 0 while it is free. Otherwise it
/// contains the owner's number and, if a thread may sleep for it, the bit `waiter_bit`.
///
/// No wake-up is lost: a thread sleeps only while the word has its expected value with `waiter_bit` set, and leaving
/// exchanges the word, so it sees the bit set by any sleeping thread. A thread that has slept sets the bit again when
/// it enters, because it does not know whether others sleep; so each sleeper is woken by the previous holder.
class ProcessSharedLock {
public:
    static constexpr std::uint64_t waiter_bit = std::uint64_t{1} << 31;

    explicit ProcessSharedLock(std::atomic<std::uint64_t>& word) : word_(word) {}

    /// Tries to enter. `owner` identifies the caller among the users of the lock, 1 ≤ owner < `waiter_bit`. Returns
    /// true on success.
    bool try_enter(std::uint64_t owner) {
        std::uint64_t free = 0;
        return word_.load(std::memory_order_relaxed) == 0 &&
               word_.compare_exchange_strong(free, owner, std::memory_order_acquire, std::memory_order_relaxed);
    }
    /// Enters after try_enter() has failed. `check(holder)` is called from time to time while the same holder keeps
    /// the lock; it throws if the holder has ended.
    template <class Check>
    void enter(std::uint64_t owner, Check&& check) {
        if (poll_briefly(short_wait_polls, [&] { return try_enter(owner); })) return;
        for (;;) {
            std::uint64_t value = word_.load(std::memory_order_relaxed);
            if (value == 0) {
                if (try_enter(owner | waiter_bit)) return;
                continue;
            }
            if (!(value & waiter_bit) &&
                !word_.compare_exchange_weak(value, value | waiter_bit, std::memory_order_relaxed))
                continue;
            futex_wait(word_, value | waiter_bit, between_checks_ns);
            if (word_.load(std::memory_order_relaxed) == (value | waiter_bit)) check(value & ~waiter_bit);
        }
    }
    void leave() {
        if (word_.exchange(0, std::memory_order_release) & waiter_bit) [[unlikely]]
            futex_wake(word_, 1);
    }

private:
    static constexpr long between_checks_ns = 100'000'000;

    std::atomic<std::uint64_t>& word_;
};

/// Waits until `condition(value of word)` is true. For words whose writer does not wake sleepers. `check` is called
/// from time to time; it throws if the writing rank has ended.
template <class Condition, class Check>
void wait_briefly(std::atomic<std::uint64_t> const& word, Condition&& condition, Check&& check) {
    auto const is_true = [&] { return condition(word.load(std::memory_order_acquire)); };
    if (poll_briefly(short_wait_polls, is_true)) return;
    constexpr long min_sleep_ns = 50'000, max_sleep_ns = 1'000'000;
    constexpr int sleeps_per_check = 100;
    long sleep_ns = min_sleep_ns;
    for (int sleeps = 1;; ++sleeps, sleep_ns = std::min(2 * sleep_ns, max_sleep_ns)) {
        std::uint64_t const value = word.load(std::memory_order_acquire);
        if (condition(value)) return;
        futex_wait(word, value, sleep_ns);
        if (sleeps % sleeps_per_check == 0 && !is_true()) check();
    }
}

/// For actions of the launcher or the watchdog, which do not wake ranks: sleeps until `condition()` is true, at most
/// for about `limit_ns`; a time during which this process is stopped does not count. Returns the condition's last
/// result. Async-signal-safe if the condition is.
template <class Condition>
bool sleep_until(std::int64_t limit_ns, Condition&& condition) {
    long sleep_ns = 100'000;
    constexpr long max_sleep_ns = 5'000'000;
    for (std::int64_t slept = 0; !condition(); slept += sleep_ns) {
        if (slept >= limit_ns) return false;
        sleep_ns = std::min(sleep_ns * 3 / 2, max_sleep_ns);
        timespec const pause{0, sleep_ns};
        nanosleep(&pause, nullptr);
    }
    return true;
}

}   // namespace tutti
