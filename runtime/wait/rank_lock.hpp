// SPDX-License-Identifier: BSD-3-Clause
// The lock of a rank: its one lock. Whoever runs the library's code for this rank is inside, and nobody waits inside.
// Closed off (one branch) until there can be a second thread; recursive, for callbacks of the program call MPI again.
// Uncontended entering and leaving: one compare-and-exchange and one plain store, 7 ns.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/wait/contention.hpp"

namespace tutti {

/// `word_` is the thread inside, `free`, or `reserved`: free for those who are counted in `wanting_` only.
///
/// Exclusion: only `free` → me and `reserved` → me are exchanged, and only the thread inside stores anything else.
///
/// Sleeping, argued: who finds the lock taken for long (1) counts itself in `sleepers_`, (2) runs membarrier, (3) reads
/// `turn_`, (4) tries once more, (5) sleeps while `turn_` is as in (3). Who leaves (a) stores `word_`, then (b) reads
/// `sleepers_`; a signal fence keeps the compiler to that order, and membarrier the processor, as runtime/wait/wait.hpp
/// argues: it is a fence at some point P of the leaving thread's program. If (a) lies before P, (4) succeeds. If it
/// lies behind, (b) sees (1): it counts `turn_` up and wakes, and the sleeper sees that in (3) together with the free
/// lock, or does not sleep in (5), or is woken. Leaving needs no fence; without membarrier the sleep is bounded. Where
/// ranks outnumber cores, (2) is left out and (a) is an exchange, which is a fence between (a) and (b).
/// `called_` spares the system calls while one that was woken is on its way. It is cleared between (3) and (4): what
/// was not said because of it came before, and (4) sees the lock as it was left; who sets it later changes `turn_`.
///
/// Fairness: a thread that is about to come in may overtake those who sleep, which is faster than a strict order. One
/// that has waited for a millisecond counts itself in `starving_`: then leaving reserves the lock. So does a thread
/// that polls in a wait (`hand_over`) as soon as anybody is wanting. `reserved` is stored only while somebody is
/// counted in `wanting_`, and a thread that is counted stays so until it is inside: so one of them takes it. A thread
/// that comes while the lock is reserved counts itself only when it is reserved no more.
class RankLock {
public:
    RankLock() = default;
    RankLock(RankLock const&) = delete;
    RankLock& operator=(RankLock const&) = delete;

    /// From now on there may be several threads. Called before there are.
    void open();
    bool on() const { return on_; }

    void enter() {
        if (on_) [[unlikely]]
            lock();
    }
    void leave() {
        if (on_) [[unlikely]]
            unlock();
    }
    /// Leaves however often the caller has entered (possibly not at all); what it returns goes to take_back.
    unsigned let_go();
    void take_back(unsigned times);

    /// How often a thread came in, whichever; asked inside.
    unsigned entries() const { return entries_; }
    /// Others wait to come in.
    bool wanted() const { return wanting_.load(std::memory_order_relaxed) != 0; }
    /// Lets one of those in and returns when it had its turn.
    void hand_over();

    Contention contention;   ///< what the rank's threads have learned of their cores

    /// Inside while it lives.
    class Inside {
    public:
        explicit Inside(RankLock& lock) : lock_(lock) { lock_.enter(); }
        ~Inside() { lock_.leave(); }
        Inside(Inside const&) = delete;
        Inside& operator=(Inside const&) = delete;

    private:
        RankLock& lock_;
    };
    /// Outside while it lives.
    class Outside {
    public:
        explicit Outside(RankLock& lock) : lock_(lock), times_(lock.on() ? lock.let_go() : 0) {}
        ~Outside() {
            if (times_ != 0) lock_.take_back(times_);
        }
        Outside(Outside const&) = delete;
        Outside& operator=(Outside const&) = delete;

    private:
        RankLock& lock_;
        unsigned times_;
    };

private:
    using Word = std::uintptr_t;
    static constexpr Word free = 0, reserved = 1;

    /// Differs between the threads of a process, and is at hand in a register.
    static Word me() { return reinterpret_cast<Word>(__builtin_thread_pointer()); }

    void lock() {
        Word was = free;
        if (word_.compare_exchange_strong(was, me(), std::memory_order_acquire)) [[likely]]
            return void(++entries_);
        if (was == me()) return void(++again_);
        wait();
        ++entries_;
    }
    void unlock() {
        if (again_ != 0) [[unlikely]]
            return void(--again_);
        pass_on(starving_);
    }
    /// Frees the lock, for those who are wanting if `first` counts anybody.
    void pass_on(std::atomic<unsigned> const& first) {
        Word const left = first.load(std::memory_order_relaxed) != 0 ? reserved : free;
        if (contention.crowded()) word_.exchange(left, std::memory_order_seq_cst);
        else word_.store(left, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (sleepers_.load(std::memory_order_relaxed) != 0) [[unlikely]]
            wake_one();
    }
    bool take(Word from) { return word_.compare_exchange_strong(from, me(), std::memory_order_acquire); }
    bool take() { return take(free) || take(reserved); }
    void wait();
    void sleep();
    void wake_one();

    bool on_ = false;
    unsigned again_ = 0;   ///< entries of the thread inside beyond its first
    unsigned entries_ = 0;
    alignas(64) std::atomic<Word> word_{free};
    std::atomic<unsigned> starving_{0}, sleepers_{0}, wanting_{0};
    std::atomic<bool> called_{false};
    std::atomic<std::uint32_t> turn_{0};   ///< futex
};

}   // namespace tutti
