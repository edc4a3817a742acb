// SPDX-License-Identifier: BSD-3-Clause
// The lock of a rank, its only lock. A thread that runs library code for the rank holds it, and no thread waits while
// holding it. Disabled (one branch) until there can be a second thread; recursive, because callbacks of the program
// call MPI again. An uncontended entry and exit take one compare-and-exchange and one plain store, 7 ns.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/wait/contention.hpp"

namespace tutti {

/// `word_` is the holder, `free`, or `reserved`: free, but only for threads that are counted in `waiters_`.
///
/// Exclusion: a thread acquires the lock only by exchanging `free` → self or `reserved` → self, and only the holder
/// stores anything else.
///
/// Sleeping, argument: a thread that finds the lock taken for long (1) counts itself in `sleepers_`, (2) runs
/// membarrier, (3) reads `wakeups_`, (4) tries once more, (5) sleeps while `wakeups_` has the value of (3). A leaving
/// thread (a) stores `word_`, then (b) reads `sleepers_`; a signal fence makes the compiler keep that order, and
/// membarrier the processor, as argued in runtime/wait/sleepers.hpp: it acts as a fence at some point P of the
/// leaving thread's program. If (a) precedes P, (4) succeeds. If (a) follows P, (b) sees (1); the leaving thread then
/// increments `wakeups_` and wakes a sleeper, and the sleeper either sees the increment in (3) together with the free
/// lock, or does not sleep in (5), or is woken. Leaving therefore needs no fence; without membarrier the sleep is
/// bounded in time. Where ranks outnumber cores, (2) is omitted and (a) is an exchange, which is a fence between (a)
/// and (b).
/// `wake_pending_` saves system calls while a woken thread is on its way. It is cleared between (3) and (4): a wake-up
/// that was omitted because of it came before, and (4) sees the lock as it was left; a thread that sets it later
/// changes `wakeups_`.
///
/// Fairness: a thread that is about to enter may overtake sleeping threads, which is faster than a strict order. A
/// thread that has waited for a millisecond counts itself in `starving_`; from then on leaving reserves the lock. A
/// thread that polls in a wait also reserves it (`hand_over`) as soon as another thread is waiting to enter.
/// `reserved` is stored only while some thread is counted in `waiters_`, and a counted thread stays counted until it
/// has entered, so one of them takes the lock. A thread that arrives while the lock is reserved counts itself only
/// when the reservation is over.
class RankLock {
public:
    RankLock() = default;
    RankLock(RankLock const&) = delete;
    RankLock& operator=(RankLock const&) = delete;

    /// Enables the lock: from now on there may be several threads. Must be called before there are.
    void enable();
    bool is_enabled() const { return enabled_; }

    void enter() {
        if (enabled_) [[unlikely]]
            lock();
    }
    void leave() {
        if (enabled_) [[unlikely]]
            unlock();
    }
    /// Releases the lock however often the caller has entered it (possibly never). Returns the count, for
    /// reacquire().
    unsigned release();
    void reacquire(unsigned depth);

    /// Returns how often any thread has entered. Must be called with the lock held.
    unsigned entries() const { return entries_; }
    /// Returns true if other threads wait to enter.
    bool has_waiters() const { return waiters_.load(std::memory_order_relaxed) != 0; }
    /// Lets one of those threads enter, and returns when it had its turn.
    void hand_over();

    Contention contention;   ///< what the rank's threads have observed about their cores

    /// Holds the lock during its lifetime.
    class ScopedLock {
    public:
        explicit ScopedLock(RankLock& lock) : lock_(lock) { lock_.enter(); }
        ~ScopedLock() { lock_.leave(); }
        ScopedLock(ScopedLock const&) = delete;
        ScopedLock& operator=(ScopedLock const&) = delete;

    private:
        RankLock& lock_;
    };
    /// Releases the lock during its lifetime.
    class ScopedUnlock {
    public:
        explicit ScopedUnlock(RankLock& lock) : lock_(lock), depth_(lock.is_enabled() ? lock.release() : 0) {}
        ~ScopedUnlock() {
            if (depth_ != 0) lock_.reacquire(depth_);
        }
        ScopedUnlock(ScopedUnlock const&) = delete;
        ScopedUnlock& operator=(ScopedUnlock const&) = delete;

    private:
        RankLock& lock_;
        unsigned depth_;
    };

private:
    using Word = std::uintptr_t;
    static constexpr Word free = 0, reserved = 1;

    /// Identifies the calling thread within the process; held in a register.
    static Word self() { return reinterpret_cast<Word>(__builtin_thread_pointer()); }

    void lock() {
        Word holder = free;
        if (word_.compare_exchange_strong(holder, self(), std::memory_order_acquire)) [[likely]]
            return void(++entries_);
        if (holder == self()) return void(++recursions_);
        wait();
        ++entries_;
    }
    void unlock() {
        if (recursions_ != 0) [[unlikely]]
            return void(--recursions_);
        unlock_for(starving_);
    }
    /// Frees the lock; reserves it for the threads counted in `waiters_` if `candidates` is nonzero.
    void unlock_for(std::atomic<unsigned> const& candidates) {
        Word const next = candidates.load(std::memory_order_relaxed) != 0 ? reserved : free;
        if (contention.oversubscribed()) word_.exchange(next, std::memory_order_seq_cst);
        else word_.store(next, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (sleepers_.load(std::memory_order_relaxed) != 0) [[unlikely]]
            wake_one();
    }
    bool try_acquire(Word from) { return word_.compare_exchange_strong(from, self(), std::memory_order_acquire); }
    bool try_acquire() { return try_acquire(free) || try_acquire(reserved); }
    void wait();
    void sleep();
    void wake_one();

    bool enabled_ = false;
    unsigned recursions_ = 0;   ///< recursive entries of the holder beyond its first
    unsigned entries_ = 0;
    alignas(64) std::atomic<Word> word_{free};
    std::atomic<unsigned> starving_{0}, sleepers_{0}, waiters_{0};
    std::atomic<bool> wake_pending_{false};
    std::atomic<std::uint32_t> wakeups_{0};   ///< futex word
};

}   // namespace tutti
