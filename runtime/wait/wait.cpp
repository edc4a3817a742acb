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

constexpr int follower_polls = 500;   // about 20 µs

/// Bounds sleeps in case a wake-up is lost where there is no membarrier. Where hundreds of ranks share a core,
/// none of them must wake up needlessly a hundred times a second; there writers run fences, and no wake-up is lost.
long max_sleep(SegmentHeader const& node) {
    long const single_rank_ns = 10'000'000;
    return node.oversubscribed() ? std::max<long>(single_rank_ns, 2'000'000L * node.ranks / node.usable_cores)
                                 : single_rank_ns;
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
               bool adapts)
    : segment_(segment), rank_state_(segment.rank_state(rank)), lock_(lock), policy_(policy),
      // If ranks share cores, the awaited rank may not be running: after a few polls the core is yielded.
      initial_polls_(policy == WaitPolicy::dedicated ? 64 : 4), sleep_after_ns_(sleep_after_ms * 1'000'000),
      max_sleep_ns_(max_sleep(segment.header())), run_delay_before_(run_delay()), sleepers_(segment, rank),
      observers_(segment, rank_state_),
      repeated_tests_(lock, rank_state_, policy, sleep_after_ns_, adapts && sleep_after_ms > 0) {
    lock.contention.configure(adapts, segment.header().ranks_per_core());
}

void Waiter::record_run_delay() { rank_state_.times.run_delay.set(run_delay() - run_delay_before_); }

void Waiter::enter(Function function, void const* site) {
    if (observers_.calls && function) observers_.calls->enter(function, site);
    enter();
    if (observers_.tracer && function) observers_.tracer->enter(function, site);
}

void Waiter::leave_call() {
    if (observers_.tracer) observers_.tracer->leave();
    leave();
    if (observers_.calls) observers_.calls->leave();
}

void Waiter::set_poll_descriptor(int descriptor) {
    poll_descriptor_ = descriptor;
    sleepers_.set_poll_descriptor(descriptor);
}

void Waiter::begin_service(bool local) {
    ++services_;
    local_services_ += local;
    announce_operation();
}

void Waiter::end_service(bool local) {
    --services_;
    local_services_ -= local;
}

/// Yields the core. Returns true if that let no other thread run. A yield during which threads of this rank made
/// progress in their calls was useful, however long it took.
bool Waiter::yield() {
    unsigned const entries_before = lock_.entries();
    std::int64_t duration_ns = 0;
    {
        RankLock::ScopedUnlock unlocked(lock_);
        duration_ns = Contention::yield();
    }
    // The re-entry of this thread does not count.
    unsigned const others_entered = lock_.entries() - entries_before - (lock_.is_enabled() ? 1 : 0);
    using enum Contention::Yield;
    Contention::Yield const effect =
        others_entered == 0 ? lock_.contention.record_yield(duration_ns, now_ns()) : useful;
    Times& times = rank_state_.times;
    times.yields.add(1);
    if (effect == useless) times.useless_yields.add(1);
    if (effect == lost_slice) times.long_yields.add(1);
    return effect == useless;
}

void Waiter::wake_progress_thread() { progress_thread_->wake(); }

std::uint32_t Waiter::add_sleeper(std::atomic<std::uint64_t> const* word) {
    if (lock_.is_enabled()) sleepers_.exclude_own_threads();
    bool const one_word = !lock_.is_enabled() && !pollables_.await_local_stores();
    return sleepers_.add(one_word ? word : nullptr, lock_.contention.is_shared());
}

/// Returns true if the test slept.
bool Waiter::sleep_if_idle(Condition ready, void const* context, CallText const& call) {
    long const sleep_ns = repeated_tests_.begin_sleep();
    if (sleep_ns == 0) return false;
    Reason const none;
    WaitLoop(*this, none, ready, context).sleep_once(sleep_ns);
    repeated_tests_.end_sleep(call);
    return true;
}

/// Returns true if the test released the core.
bool Waiter::release_core(bool moved, Condition ready, void const* context) {
    RepeatedTests::CoreRelease const release = repeated_tests_.next_release(moved);
    Reason const none;
    if (release == RepeatedTests::CoreRelease::yield) yield();
    if (release == RepeatedTests::CoreRelease::sleep)
        WaitLoop(*this, none, ready, context).sleep_once(RepeatedTests::max_sleep_ns);
    return release != RepeatedTests::CoreRelease::none;
}

/// Lets the rank change its NUMA node or core. Only speed depends on where it runs.
void Waiter::maybe_migrate(std::int64_t now) {
    if (numa_home_) numa_home_->check(now);
    if (core_balancer_ && !lock_.is_enabled()) core_balancer_->update(now, lock_.contention.is_shared());
}

void Waiter::WaitLoop::hand_over() {
    waiter_.lock_.hand_over();
    spin_.invalidate_clock();
}

// Published waits serve the user alone: if memory for them is exhausted the wait continues, because the awaited event
// may still arrive.
void Waiter::WaitLoop::decide() {
    std::int64_t const now = now_ns(), polled_for = spin_.record_clock(now);
    Contention& contention = waiter_.lock_.contention;
    if (!asleep && contention.record_gap(polled_for, now)) waiter_.rank_state_.times.lost_slices.add(1);
    SpinPolicy::Core const core{contention.update(now), contention.has_neighbours()};
    SpinPolicy::Next const next = asleep ? SpinPolicy::Next::sleep : spin_.next(now, core);
    if (next == SpinPolicy::Next::poll) return cpu_pause();
    spin_.invalidate_clock();
    if (unless_out_of_memory([this] { return on_empty_poll(); })) return;
    if (asleep) return sleep(waiter_.max_sleep_ns_);
    if (next == SpinPolicy::Next::sleep) return mark_asleep();
    bool const useless = waiter_.yield();
    spin_.record_yield(useless, now_ns());
}

bool Waiter::WaitLoop::on_empty_poll() {
    ProgressThread const* const progress_thread = waiter_.progress_thread_;
    return waiter_.observers_.on_empty_poll(*this, reason_,
                                            {waiter_.threads_, waiter_.pollables_, waiter_.lock_.is_enabled(),
                                             progress_thread ? progress_thread->thread_id() : 0});
}

void Waiter::WaitLoop::mark_asleep() {
    asleep = true;
    ticket_ = waiter_.add_sleeper(word_);
}

void Waiter::WaitLoop::sleep(long max_ns) {
    sleeps_at_rank_futex = true;
    event = waiter_.lock_.is_enabled() && waiter_.sleepers_.has_bell() ? event_of_thread() : -1;
    waiter_.threads_.enlist(*this);
    std::int64_t const before = now_ns();
    {
        RankLock::ScopedUnlock unlocked(waiter_.lock_);
        waiter_.sleepers_.sleep(ticket_, max_ns, event);
    }
    Times& times = waiter_.rank_state_.times;
    times.sleeps.add(1);
    times.slept.add(static_cast<std::uint64_t>(now_ns() - before));
    waiter_.threads_.delist(*this);
    eventfd_t calls;
    if (event >= 0) eventfd_read(event, &calls);
    if (waiter_.threads_.is_leader(*this)) waiter_.sleepers_.drain_bell();
    ticket_ = waiter_.sleepers_.ticket();
}

void Waiter::WaitLoop::follow(long max_ns) {
    bool const spins = !waiter_.shares_core();
    if (ready(context)) return;   // the caller has polled since the last check
    max_ns = waiter_.threads_.max_follower_sleep(*this, max_ns);
    has_followed = true;
    sleeps_at_rank_futex = false;
    waiter_.threads_.enlist(*this);
    {
        RankLock::ScopedUnlock unlocked(waiter_.lock_);
        for (int i = 0; spins && i < follower_polls && signalled.load(std::memory_order_acquire) == 0; ++i) cpu_pause();
        futex_wait(signalled, 0, max_ns);
    }
    waiter_.threads_.delist(*this);
    if (signalled.load(std::memory_order_relaxed) == 0 && !sleeps_once_)
        unless_out_of_memory([this] { return waiter_.observers_.publish(*this, reason_); });
}

/// Never takes the lead from another thread, which also checks this one's condition.
void Waiter::WaitLoop::sleep_once(long max_ns) {
    sleeps_once_ = true;
    max_ns = std::min(max_ns, waiter_.max_sleep_ns_);
    WaitingThreads& threads = waiter_.threads_;
    if (threads.leader() && threads.leader()->thread == thread) return void(waiter_.yield());   // nested in a wait
    if (threads.leader()) return follow(max_ns);
    threads.set_leader(*this);
    mark_asleep();
    bool const moved = waiter_.progress();
    if (threads.any_asleep()) threads.wake_ready();
    if (!moved && !ready(context)) sleep(max_ns);
}

void Waiter::WaitLoop::finish() {
    if (waiter_.threads_.end_wait(*this) && waiter_.progress_thread_ && !waiter_.is_quiescent())
        waiter_.announce_operation();
    std::int64_t const now = now_ns();
    waiter_.observers_.end_wait(*this, now);
    if (sleeps_once_) return;
    Times& times = waiter_.rank_state_.times;
    times.waits.add(1);
    times.waited.add(static_cast<std::uint64_t>(now - start));
    if (waiter_.observers_.tracer) waiter_.observers_.tracer->waited(now - start);
    unless_out_of_memory([&] { return waiter_.maybe_migrate(now), true; });   // a destructor must not throw
}

}   // namespace tutti
