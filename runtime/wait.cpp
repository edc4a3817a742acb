// SPDX-License-Identifier: BSD-3-Clause
// The slow half of the one wait: yielding, announcing the reason, sleeping.
#include "runtime/wait.hpp"

#include <algorithm>
#include <cstdio>

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/futex.hpp"

namespace tutti {
namespace {

constexpr std::int64_t announce_after_ns = 1'000'000'000;
constexpr long longest_sleep_ns = 10'000'000;

void membarrier(int command) { syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

Waiter::Waiter(Segment const& segment, unsigned rank, WaitPolicy policy, long sleep_after_ms, Gate& gate)
    : segment_(segment), card_(segment.card(rank)), gate_(gate), policy_(policy),
      sleep_after_ns_(sleep_after_ms * 1'000'000),
      // When ranks share cores, whoever is waited for may not be running: a few polls, then the core is given away.
      // A rank with a core of its own does so too in a longer wait, for there may be other programs than ours.
      first_polls_(policy == WaitPolicy::dedicated ? 64 : 4), most_polls_(policy == WaitPolicy::dedicated ? 500 : 2),
      polls_(most_polls_) {
    membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}

void Waiter::attach(Pollable* pollable) { pollable_[pollables_++] = pollable; }

void Waiter::detach(Pollable* pollable) {
    auto* end = std::remove(pollable_, pollable_ + pollables_, pollable);
    pollables_ = static_cast<int>(end - pollable_);
}

void Waiter::yield() {
    Gate::Outside outside(gate_);
    sched_yield();
}

void Waiter::wake_all() {
    for (unsigned r = 0; r < segment_.ranks(); ++r) {
        Card& card = segment_.card(r);
        if (card.asleep.load(std::memory_order_relaxed) == 0) continue;
        card.wake.fetch_add(1, std::memory_order_release);
        futex_wake(card.wake, everybody);
    }
}

void Waiter::Pause::relax() {
    if (asleep_) return announce(), sleep();
    polls_ = 0;
    waiter_.yield();
    yielded_ = true;
    std::int64_t now = now_ns();
    if (since_ == 0) since_ = now;
    if (now - since_ > announce_after_ns) announce();
    if (waiter_.sleep_after_ns_ != 0 && now - since_ > waiter_.sleep_after_ns_) mark_asleep();
}

// So that mpiexec can say what a rank waits for; of several threads, what the first one does.
void Waiter::Pause::announce() {
    if (waiter_.announced_) return;
    waiter_.announced_ = this;
    std::string text = why_.operation;
    if (why_.peer >= 0) text += ", peer " + std::to_string(why_.peer);
    if (why_.tag >= 0) text += ", tag " + std::to_string(why_.tag);
    std::snprintf(waiter_.card_.reason, sizeof waiter_.card_.reason, "%s", text.c_str());
    waiter_.card_.waits.fetch_add(1, std::memory_order_release);
}

void Waiter::Pause::mark_asleep() {
    announce();   // who sleeps has waited for long
    asleep_ = true;
    --waiter_.awake_;
    ticket_ = waiter_.card_.wake.load(std::memory_order_acquire);
    waiter_.card_.asleep.fetch_add(1, std::memory_order_relaxed);
    waiter_.segment_.header().sleepers.fetch_add(1, std::memory_order_seq_cst);
    membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

void Waiter::Pause::sleep() {
    {
        Gate::Outside outside(waiter_.gate_);
        futex_wait(waiter_.card_.wake, ticket_, longest_sleep_ns);
    }
    ticket_ = waiter_.card_.wake.load(std::memory_order_acquire);
}

void Waiter::Pause::get_up() {
    asleep_ = false;
    ++waiter_.awake_;
    waiter_.segment_.header().sleepers.fetch_sub(1, std::memory_order_seq_cst);
    waiter_.card_.asleep.fetch_sub(1, std::memory_order_relaxed);
}

void Waiter::Pause::finish() {
    if (asleep_) get_up();
    --waiter_.awake_;
    if (waiter_.announced_ == this) {
        waiter_.announced_ = nullptr;
        waiter_.card_.waits.fetch_add(1, std::memory_order_release);
    }
    Times& times = waiter_.card_.times;
    times.waits.add(1);
    times.waited.add(static_cast<std::uint64_t>(now_ns() - start_));
}

}  // namespace tutti
