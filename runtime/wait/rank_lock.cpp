// SPDX-License-Identifier: BSD-3-Clause
// The slow path of the lock: entering while another thread holds it.
#include "runtime/wait/rank_lock.hpp"

#include <sched.h>

#include "runtime/base/clock.hpp"
#include "runtime/base/flag.hpp"
#include "runtime/wait/short_wait.hpp"

namespace tutti {
namespace {

constexpr int polls = 20, yields = 4;   // a call that does not wait is over within microseconds
constexpr std::int64_t starving_after_ns = 1'000'000;
constexpr long max_sleep_ns = 10'000'000;

}   // namespace

void RankLock::enable() {
    register_for_own_fences();
    enabled_ = true;
}

unsigned RankLock::release() {
    if (word_.load(std::memory_order_relaxed) != self()) return 0;
    unsigned const depth = recursions_ + 1;
    recursions_ = 0;
    unlock_for(starving_);
    return depth;
}

void RankLock::reacquire(unsigned depth) {
    if (depth == 0) return;
    lock();
    recursions_ = depth - 1;
}

void RankLock::hand_over() {
    if (word_.load(std::memory_order_relaxed) != self()) return;
    unsigned const depth = recursions_ + 1;
    recursions_ = 0;
    unlock_for(waiters_);
    reacquire(depth);
}

void RankLock::wait() {
    wait_briefly(
        word_, [](Word word) { return word != reserved; }, [] {});
    waiters_.fetch_add(1, std::memory_order_relaxed);
    for (int i = 0; !try_acquire(); ++i) {
        if (i < polls) {
            cpu_pause();
        } else if (i < polls + yields && !contention.is_shared(now_ns())) {
            sched_yield();
        } else {
            sleep();
            break;
        }
    }
    waiters_.fetch_sub(1, std::memory_order_relaxed);
}

void RankLock::sleep() {
    std::int64_t const since = now_ns();
    bool starving = false;
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    if (!contention.oversubscribed()) fence_own_threads();
    for (;;) {
        std::uint32_t const wakeups = wakeups_.load(std::memory_order_acquire);
        wake_pending_.exchange(false, std::memory_order_acq_rel);
        if (try_acquire()) break;
        futex_wait(wakeups_, wakeups, max_sleep_ns);
        if (starving || now_ns() - since < starving_after_ns) continue;
        starving = true;
        starving_.fetch_add(1, std::memory_order_relaxed);
    }
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    if (starving) starving_.fetch_sub(1, std::memory_order_relaxed);
}

void RankLock::wake_one() {
    if (wake_pending_.exchange(true, std::memory_order_acq_rel)) return;
    wakeups_.fetch_add(1, std::memory_order_release);
    futex_wake(wakeups_, 1);
}

}   // namespace tutti
