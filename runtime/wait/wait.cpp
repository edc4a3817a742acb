// SPDX-License-Identifier: BSD-3-Clause
// The slow path of the wait: yielding, publishing the reason, sleeping.
#include "runtime/wait/wait.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/base/flag.hpp"
#include "runtime/memory/placement.hpp"
#include "runtime/state/tracer.hpp"
#include "runtime/wait/core_balancer.hpp"
#include "runtime/wait/progress_thread.hpp"

namespace tutti {
namespace {

constexpr int followers_polls = 500;   // about 20 µs

/// Bounds sleeps in case a wake-up is lost where there is no membarrier. Where hundreds of ranks share a core,
/// none of them must wake up needlessly a hundred times a second; there writers run fences, and no wake-up is lost.
long longest_sleep(SegmentHeader const& node) {
    long const of_one = 10'000'000;
    return node.crowded() ? std::max<long>(of_one, 2'000'000L * node.ranks / node.usable_cores) : of_one;
}

/// Returns how long the calling thread has been ready but not running, in nanoseconds; 0 if the kernel does not count
/// it.
std::uint64_t run_delay() {
    int const file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char text[64] = {};
    ssize_t const length = read(file, text, sizeof text - 1);
    close(file);
    std::uint64_t ran = 0, delayed = 0;
    return length > 0 && std::sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &delayed) == 2 ? delayed : 0;
}

/// Returns the calling thread's eventfd, which wakes it from poll(2); −1 if the system has no more descriptors.
int event_of_thread() {
    struct Event {
        int const descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        ~Event() {
            if (descriptor >= 0) close(descriptor);
        }
    };
    static thread_local Event const event;
    return event.descriptor;
}

}   // namespace

Waiter::Waiter(Segment const& segment, unsigned rank, WaitPolicy policy, long sleep_after_ms, RankLock& lock,
               bool learns)
    : segment_(segment), rank_state_(segment.rank_state(rank)), lock_(lock), policy_(policy),
      // If ranks share cores, the awaited rank may not be running: after a few polls the core is yielded.
      first_polls_(policy == WaitPolicy::dedicated ? 64 : 4), sleep_after_ns_(sleep_after_ms * 1'000'000),
      longest_sleep_ns_(longest_sleep(segment.header())), run_delay_before_(run_delay()), sleepers_(segment, rank),
      observers_(segment, rank_state_),
      tests_(lock, rank_state_, policy, sleep_after_ns_, learns && sleep_after_ms > 0) {
    lock.contention.configure(learns, segment.header().ranks_per_core());
}

void Waiter::count_run_delay() { rank_state_.times.run_delay.set(run_delay() - run_delay_before_); }

void Waiter::enter(char const* call, void const* site) {
    if (observers_.calls && call) observers_.calls->enter(call, site);
    enter();
    if (observers_.tracer && call) observers_.tracer->enter(call, site);
}

void Waiter::leave_call() {
    if (observers_.tracer) observers_.tracer->leave();
    leave();
    if (observers_.calls) observers_.calls->leave();
}

void Waiter::watch(int descriptor) {
    descriptor_ = descriptor;
    sleepers_.watch(descriptor);
}

void Waiter::begin_service(bool words) {
    ++services_;
    services_by_words_ += words;
    started();
}

void Waiter::end_service(bool words) {
    --services_;
    services_by_words_ -= words;
}

/// Yields the core. Returns true if that let no other thread run. A yield during which threads of this rank made
/// progress in their calls was useful, however long it took.
bool Waiter::yield() {
    unsigned const before = lock_.entries();
    std::int64_t took = 0;
    {
        RankLock::Outside outside(lock_);
        took = Contention::yield();
    }
    unsigned const others = lock_.entries() - before - (lock_.on() ? 1 : 0);   // without the caller's own re-entry
    using enum Contention::Yield;
    Contention::Yield const worth = others == 0 ? lock_.contention.note_yield(took, now_ns()) : useful;
    Times& times = rank_state_.times;
    times.yields.add(1);
    if (worth == useless) times.useless_yields.add(1);
    if (worth == lost_slice) times.long_yields.add(1);
    return worth == useless;
}

void Waiter::call_helper() { helper_->call(); }

std::uint32_t Waiter::add_sleeper(std::atomic<std::uint64_t> const* word) {
    if (lock_.on()) sleepers_.leave_own_threads_alone();
    bool const one_word = !lock_.on() && !polled_.await_words();
    return sleepers_.add(one_word ? word : nullptr, lock_.contention.shared());
}

/// Returns true if the test slept.
bool Waiter::nap_if_idle(Condition ready, void const* what, CallText const& call) {
    long const longest = tests_.begin_nap();
    if (longest == 0) return false;
    Reason const none;
    WaitLoop(*this, none, ready, what).nap(longest);
    tests_.end_nap(call);
    return true;
}

/// Returns true if the test gave up the core.
bool Waiter::give_core_away(bool moved, Condition ready, void const* what) {
    RepeatedTests::Gives const gives = tests_.give_core_away(moved);
    Reason const none;
    if (gives == RepeatedTests::Gives::yield) yield();
    if (gives == RepeatedTests::Gives::nap) WaitLoop(*this, none, ready, what).nap(RepeatedTests::nap_ns);
    return gives != RepeatedTests::Gives::nothing;
}

/// Lets the rank change its NUMA node or core. Only speed depends on where it runs.
void Waiter::consider_moving(std::int64_t now) {
    if (home_) home_->look(now);
    if (balance_ && !lock_.on()) balance_->look(now, lock_.contention.shared());
}

void Waiter::WaitLoop::hand_over() {
    waiter_.lock_.hand_over();
    spin_.interrupt();
}

// Published waits serve the user alone: if memory for them is exhausted the wait continues, because the awaited event
// may still arrive.
void Waiter::WaitLoop::decide() {
    std::int64_t const now = now_ns(), polled_for = spin_.note_clock(now);
    Contention& contention = waiter_.lock_.contention;
    if (!asleep && contention.note_gap(polled_for, now)) waiter_.rank_state_.times.lost_slices.add(1);
    SpinPolicy::Core const core{contention.update(now), contention.has_neighbours()};
    SpinPolicy::Next const next = asleep ? SpinPolicy::Next::sleep : spin_.next(now, core);
    if (next == SpinPolicy::Next::poll) return cpu_pause();
    spin_.interrupt();
    if (unless_out_of_memory([this] { return asked_again(); })) return;
    if (asleep) return sleep(waiter_.longest_sleep_ns_);
    if (next == SpinPolicy::Next::sleep) return mark_asleep();
    bool const useless = waiter_.yield();
    spin_.note_yield(useless, now_ns());
}

bool Waiter::WaitLoop::asked_again() {
    ProgressThread const* const helper = waiter_.helper_;
    return waiter_.observers_.polled_in_vain(
        *this, why_, {waiter_.threads_, waiter_.polled_, waiter_.lock_.on(), helper ? helper->thread() : 0});
}

void Waiter::WaitLoop::mark_asleep() {
    asleep = true;
    ticket_ = waiter_.add_sleeper(word_);
}

void Waiter::WaitLoop::sleep(long longest) {
    at_rank_futex = true;
    event = waiter_.lock_.on() && waiter_.sleepers_.has_bell() ? event_of_thread() : -1;
    waiter_.threads_.enlist(*this);
    std::int64_t const before = now_ns();
    {
        RankLock::Outside outside(waiter_.lock_);
        waiter_.sleepers_.sleep(ticket_, longest, event);
    }
    Times& times = waiter_.rank_state_.times;
    times.sleeps.add(1);
    times.slept.add(static_cast<std::uint64_t>(now_ns() - before));
    waiter_.threads_.delist(*this);
    eventfd_t calls;
    if (event >= 0) eventfd_read(event, &calls);
    if (waiter_.threads_.leads(*this)) waiter_.sleepers_.silence_bell();
    ticket_ = waiter_.sleepers_.ticket();
}

void Waiter::WaitLoop::follow(long longest) {
    bool const spins = !waiter_.shares_core();
    if (ready(what)) return;   // the caller has polled since the last check
    longest = waiter_.threads_.longest_follow(*this, longest);
    followed = true;
    at_rank_futex = false;
    waiter_.threads_.enlist(*this);
    {
        RankLock::Outside outside(waiter_.lock_);
        for (int i = 0; spins && i < followers_polls && called.load(std::memory_order_acquire) == 0; ++i) cpu_pause();
        futex_wait(called, 0, longest);
    }
    waiter_.threads_.delist(*this);
    if (called.load(std::memory_order_relaxed) == 0 && !nap_)
        unless_out_of_memory([this] { return waiter_.observers_.show(*this, why_); });
}

/// Never takes the lead from another thread, which also checks this one's condition.
void Waiter::WaitLoop::nap(long longest) {
    nap_ = true;
    longest = std::min(longest, waiter_.longest_sleep_ns_);
    WaitingThreads& threads = waiter_.threads_;
    if (threads.leader() && threads.leader()->thread == thread) return void(waiter_.yield());   // nested in a wait
    if (threads.leader()) return follow(longest);
    threads.lead(*this);
    mark_asleep();
    bool const moved = waiter_.progress();
    if (threads.any_asleep()) threads.wake_ready();
    if (!moved && !ready(what)) sleep(longest);
}

void Waiter::WaitLoop::finish() {
    if (waiter_.threads_.end(*this) && waiter_.helper_ && !waiter_.at_rest()) waiter_.started();
    std::int64_t const now = now_ns();
    waiter_.observers_.end(*this, now);
    if (nap_) return;
    Times& times = waiter_.rank_state_.times;
    times.waits.add(1);
    times.waited.add(static_cast<std::uint64_t>(now - start));
    if (waiter_.observers_.tracer) waiter_.observers_.tracer->waited(now - start);
    unless_out_of_memory([&] { return waiter_.consider_moving(now), true; });   // a destructor must not throw
}

}   // namespace tutti
