// SPDX-License-Identifier: BSD-3-Clause
// The choice of the leader, and signals to the other threads; waiting_threads.hpp has the argument.
#include "runtime/wait/waiting_threads.hpp"

#include <algorithm>

#include <sys/eventfd.h>

#include "runtime/base/clock.hpp"
#include "runtime/base/flag.hpp"

namespace tutti {
namespace {

constexpr int max_needless_signals = 8;
constexpr std::int64_t max_lead_ns = 100'000;
constexpr long short_sleep_ns = 1'000'000;

}   // namespace

bool WaitingThreads::take_lead(WaitingThread& wait, bool fresh) {
    if (leader_ && leader_->thread == wait.thread) return true;
    if (leader_ && !fresh) return false;
    if (leader_ && leader_->asleep) mark_awake(*leader_);
    else if (leader_ && now_ns() - leader_->start < max_lead_ns) return false;
    if (wait.has_followed) needless_signals_ = 0;
    leader_ = &wait;
    return true;
}

bool WaitingThreads::end_wait(WaitingThread& wait) {
    if (wait.asleep) mark_awake(wait);
    if (leader_ == &wait) leader_ = nullptr;
    if (leader_) return false;
    if (first_) signal_new_leader();   // also when a thread that was signalled to lead need not wait any more
    return true;
}

void WaitingThreads::enlist(WaitingThread& wait) {
    wait.signalled.store(0, std::memory_order_relaxed);
    wait.next = nullptr;
    WaitingThread** end = &first_;
    while (*end) end = &(*end)->next;
    *end = &wait;
}

void WaitingThreads::delist(WaitingThread& wait) {
    WaitingThread** link = &first_;
    while (*link != &wait) link = &(*link)->next;
    *link = wait.next;
}

long WaitingThreads::max_follower_sleep(WaitingThread const& wait, long max_ns) {
    if (wait.has_followed && wait.signalled.load(std::memory_order_relaxed) != 0) ++needless_signals_;
    return needless_signals_ >= max_needless_signals ? std::min(max_ns, short_sleep_ns) : max_ns;
}

void WaitingThreads::wake_ready() {
    changed_.store(false, std::memory_order_relaxed);
    for (WaitingThread* p = first_; p; p = p->next) {
        if (p->signalled.load(std::memory_order_relaxed) != 0) continue;
        bool ready = true;
        try {
            ready = p->ready(p->context);
        } catch (...) {   // the thread checks itself and gets the exception
        }
        if (ready) signal(*p);
    }
}

/// Signals a sleeping thread to lead. If one thread keeps returning sooner than another one wakes up, the sleeping
/// threads are not signalled, and one of them takes the lead itself a little later.
void WaitingThreads::signal_new_leader() {
    if (needless_signals_ >= max_needless_signals) return;
    for (WaitingThread* p = first_; p; p = p->next)
        if (p->signalled.load(std::memory_order_relaxed) != 0) return;
    if (first_) signal(*first_);
}

/// The lock keeps the thread from continuing before the caller has left, so its Wait still exists when it is woken.
void WaitingThreads::signal(WaitingThread& wait) {
    wait.signalled.store(1, std::memory_order_release);
    if (!wait.sleeps_at_rank_futex) futex_wake(wait.signalled, 1);
    else if (wait.event >= 0) eventfd_write(wait.event, 1);
    else sleepers_.wake_this_rank();
}

}   // namespace tutti
