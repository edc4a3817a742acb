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
constexpr std::int64_t patience_ns = 1'000'000;
constexpr long longest_sleep_ns = 10'000'000;

}   // namespace

void RankLock::open() {
    register_for_own_fences();
    on_ = true;
}

unsigned RankLock::let_go() {
    if (word_.load(std::memory_order_relaxed) != me()) return 0;
    unsigned const times = again_ + 1;
    again_ = 0;
    pass_on(starving_);
    return times;
}

void RankLock::take_back(unsigned times) {
    if (times == 0) return;
    lock();
    again_ = times - 1;
}

void RankLock::hand_over() {
    if (word_.load(std::memory_order_relaxed) != me()) return;
    unsigned const times = again_ + 1;
    again_ = 0;
    pass_on(wanting_);
    take_back(times);
}

void RankLock::wait() {
    wait_briefly(
        word_, [](Word word) { return word != reserved; }, [] {});
    wanting_.fetch_add(1, std::memory_order_relaxed);
    for (int i = 0; !take(); ++i) {
        if (i < polls) {
            cpu_pause();
        } else if (i < polls + yields && !contention.shared(now_ns())) {
            sched_yield();
        } else {
            sleep();
            break;
        }
    }
    wanting_.fetch_sub(1, std::memory_order_relaxed);
}

void RankLock::sleep() {
    std::int64_t const since = now_ns();
    bool starving = false;
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    if (!contention.crowded()) fence_own_threads();
    for (;;) {
        std::uint32_t const turn = turn_.load(std::memory_order_acquire);
        called_.exchange(false, std::memory_order_acq_rel);
        if (take()) break;
        futex_wait(turn_, turn, longest_sleep_ns);
        if (starving || now_ns() - since < patience_ns) continue;
        starving = true;
        starving_.fetch_add(1, std::memory_order_relaxed);
    }
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    if (starving) starving_.fetch_sub(1, std::memory_order_relaxed);
}

void RankLock::wake_one() {
    if (called_.exchange(true, std::memory_order_acq_rel)) return;
    turn_.fetch_add(1, std::memory_order_release);
    futex_wake(turn_, 1);
}

}   // namespace tutti
