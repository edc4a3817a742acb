// SPDX-License-Identifier: BSD-3-Clause
// The choice of the leader, and calls to the other threads; waiting_threads.hpp has the argument.
#include "runtime/wait/waiting_threads.hpp"

#include <algorithm>

#include <sys/eventfd.h>

#include "runtime/base/clock.hpp"
#include "runtime/base/flag.hpp"

namespace tutti {
namespace {

constexpr int most_needless_calls = 8;
constexpr std::int64_t longest_lead_ns = 100'000;
constexpr long short_sleep_ns = 1'000'000;

}   // namespace

bool WaitingThreads::take_lead(Wait& wait, bool fresh) {
    if (leader_ && leader_->thread == wait.thread) return true;
    if (leader_ && !fresh) return false;
    if (leader_ && leader_->asleep) get_up(*leader_);
    else if (leader_ && now_ns() - leader_->start < longest_lead_ns) return false;
    if (wait.followed) needless_calls_ = 0;
    leader_ = &wait;
    return true;
}

bool WaitingThreads::end(Wait& wait) {
    if (wait.asleep) get_up(wait);
    if (leader_ == &wait) leader_ = nullptr;
    if (leader_) return false;
    if (first_) call_next();   // also when a thread that was called to lead need not wait any more
    return true;
}

void WaitingThreads::enlist(Wait& wait) {
    wait.called.store(0, std::memory_order_relaxed);
    wait.next = nullptr;
    Wait** end = &first_;
    while (*end) end = &(*end)->next;
    *end = &wait;
}

void WaitingThreads::delist(Wait& wait) {
    Wait** link = &first_;
    while (*link != &wait) link = &(*link)->next;
    *link = wait.next;
}

long WaitingThreads::longest_follow(Wait const& wait, long longest) {
    if (wait.followed && wait.called.load(std::memory_order_relaxed) != 0) ++needless_calls_;
    return needless_calls_ >= most_needless_calls ? std::min(longest, short_sleep_ns) : longest;
}

void WaitingThreads::wake_ready() {
    changed_.store(false, std::memory_order_relaxed);
    for (Wait* p = first_; p; p = p->next) {
        if (p->called.load(std::memory_order_relaxed) != 0) continue;
        bool ready = true;
        try {
            ready = p->ready(p->what);
        } catch (...) {   // the thread checks itself and gets the exception
        }
        if (ready) call(*p);
    }
}

/// Calls a sleeping thread to lead. If one thread keeps returning sooner than another one wakes up, the sleeping
/// threads are not called, and one of them takes the lead itself a little later.
void WaitingThreads::call_next() {
    if (needless_calls_ >= most_needless_calls) return;
    for (Wait* p = first_; p; p = p->next)
        if (p->called.load(std::memory_order_relaxed) != 0) return;
    if (first_) call(*first_);
}

/// The lock keeps the thread from continuing before the caller has left, so its Wait still exists when it is woken.
void WaitingThreads::call(Wait& wait) {
    wait.called.store(1, std::memory_order_release);
    if (!wait.at_rank_futex) futex_wake(wait.called, 1);
    else if (wait.event >= 0) eventfd_write(wait.event, 1);
    else sleepers_.wake_own();
}

}   // namespace tutti
