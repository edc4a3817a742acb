// SPDX-License-Identifier: BSD-3-Clause
// What the progress thread does all day.
#include "runtime/wait/progress_thread.hpp"

#include <csignal>

#include <pthread.h>

#include "runtime/base/futex.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti {
namespace {

constexpr long longest_rest_ns = 1'000'000'000;
constexpr int polls_of_its_own_core = 2000;   // about 100 µs
constexpr long idle_ns = 1'000'000;
constexpr int most_naps = 20;

bool cores_to_spare(SegmentLayout const& node, WaitPolicy policy) {
    return policy == WaitPolicy::dedicated && node.usable_cores >= 2 * node.ranks;
}

/// Signals are for the program's threads.
template <class Body>
std::thread without_signals(Body body) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread thread(body);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
}

}   // namespace

ProgressThread::ProgressThread(Waiter& waiter)
    : waiter_(waiter), lock_(waiter.lock_), rank_state_(waiter.rank_state_),
      polls_(cores_to_spare(waiter.segment_.header(), waiter.policy()) ? polls_of_its_own_core : 0),
      naps_(waiter.segment_.header().crowded()) {
    lock_.open();
    waiter_.helper_ = this;
    thread_ = without_signals([this] { run(); });
    pthread_setname_np(thread_.native_handle(), "progress");
}

ProgressThread::~ProgressThread() {
    {
        RankLock::Inside inside(lock_);
        stop_ = true;
        waiter_.helper_ = nullptr;
        call();
    }
    rank_state_.wake.fetch_add(1, std::memory_order_release);
    futex_wake(rank_state_.wake, everybody);
    RankLock::Outside outside(lock_);
    thread_.join();
}

void ProgressThread::call() {
    if (!resting_ && !stop_) return;
    resting_ = false;
    work_.fetch_add(1, std::memory_order_release);
    futex_wake(work_, 1);
}

bool ProgressThread::wanted() const { return !stop_ && !waiter_.leader_ && !waiter_.at_rest(); }

void ProgressThread::run() {
    RankLock::Inside inside(lock_);
    for (int in_vain = 0; !stop_;) {
        if (!wanted()) {
            rest();
        } else if (waiter_.progress()) {
            in_vain = idle_naps_ = 0;
            if (waiter_.sleeping_) waiter_.settle();
            if (lock_.wanted()) lock_.hand_over();
        } else if (++in_vain <= polls_) {
            RankLock::Outside outside(lock_);
            cpu_pause();
        } else {
            sleep();
            in_vain = 0;
        }
    }
}

// With more ranks than cores a call costs more than most requests take: those that end soon after they were started
// are none of its business. Then it looks by itself now and then, until there was nothing for long.
void ProgressThread::rest() {
    std::uint32_t const ticket = work_.load(std::memory_order_relaxed);
    if (naps_ && idle_naps_ < most_naps) {
        ++idle_naps_;
        RankLock::Outside outside(lock_);
        return futex_wait(work_, ticket, idle_ns);
    }
    idle_naps_ = 0;
    resting_ = true;
    RankLock::Outside outside(lock_);
    futex_wait(work_, ticket, longest_rest_ns);
}

void ProgressThread::sleep() {
    std::uint32_t ticket = waiter_.add_sleeper();
    while (wanted() && !waiter_.progress()) {   // looks between the mark and the sleep
        RankLock::Outside outside(lock_);
        futex_wait(rank_state_.wake, ticket, waiter_.longest_sleep_ns_);
        ticket = rank_state_.wake.load(std::memory_order_acquire);
    }
    waiter_.remove_sleeper();
}

}   // namespace tutti
