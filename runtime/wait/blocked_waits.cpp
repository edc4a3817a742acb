// SPDX-License-Identifier: BSD-3-Clause
// Records of polling and blocked ranks: the heuristics of repeated tests (RepeatedTests) and the
// publication of blocked waits (BlockedWaits).
#include "runtime/wait/blocked_waits.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"
#include "runtime/state/call_site.hpp"
#include "runtime/wait/observers.hpp"
#include "runtime/wait/other_threads.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti {
namespace {

constexpr std::int64_t publish_polling_after_ns = 1'000'000'000, max_pause_ns = 3'000'000'000;
constexpr std::int64_t between_checks_ns = 1'000'000;
constexpr int tests_before_yield = 4;           // where ranks outnumber cores
constexpr std::int64_t tests_for_ns = 25'000;   // elsewhere: a sleep and a wake-up would cost as much
constexpr std::int64_t busy_gap_ns = 50'000;    // a program that takes this long between two tests does other work
// Sleeps of an idle program. They delay other events that it may wait for by 4 % of the time that it has been idle. A
// program that itself sleeps for long between its tests needs none.
constexpr long max_idle_sleep_ns = 10'000'000;
constexpr std::int64_t idle_per_sleep = 25, max_gap_ns = 2'000'000;

}   // namespace

/// Checks whether another thread has taken the core. The program's own polls leave no gap in the clock, but the kernel
/// counts switches, including those of yields.
void RepeatedTests::check_core() {
    std::int64_t const now = now_ns();
    if (now < next_check_) return;
    next_check_ = now + between_checks_ns;
    long const before = std::exchange(switches_, Contention::involuntary_switches());
    std::uint64_t const yields = rank_state_.times.yields.read();
    bool const yielded = std::exchange(yields_, yields) != yields;
    if (before != 0 && switches_ != before && !yielded) lock_.contention.record_gap(Contention::lost_slice_ns, now);
    lock_.contention.update(now);
    if (may_sleep_ && !lock_.is_enabled()) check_idleness(now, thread_time_ns());
}

void RepeatedTests::restart_idle_period(std::int64_t now, std::int64_t cpu_ns) {
    idle_ = false;
    idle_since_ = now;
    idle_start_cpu_ns_ = cpu_ns;
}

/// Detects a program that sleeps between its tests: it uses little processor time. `cpu_ns`: total of this thread.
void RepeatedTests::check_idleness(std::int64_t now, std::int64_t cpu_ns) {
    std::uint64_t const progress_count = rank_state_.blocked.progress_count.load(std::memory_order_relaxed);
    if (idle_since_ == 0 || progress_count != idle_progress_count_ ||
        4 * (cpu_ns - idle_start_cpu_ns_) > now - idle_since_) {
        restart_idle_period(now, cpu_ns);
        idle_progress_count_ = progress_count;
    } else if (!idle_ && now - idle_since_ > sleep_after_ns_) {
        idle_ = true;
        last_end_ = 0;
    }
}

long RepeatedTests::begin_sleep() {
    std::int64_t const now = now_ns(), cpu_ns = thread_time_ns();
    std::int64_t const gap = now - std::exchange(last_end_, now),
                       cpu_ns_in_gap = cpu_ns - std::exchange(last_end_cpu_ns_, cpu_ns);
    if (gap == now) return 0;   // unknown time between two tests
    if (gap < busy_gap_ns || 4 * cpu_ns_in_gap > gap ||
        lock_.is_enabled()) {   // it polls continuously, or has work to do
        restart_idle_period(now, cpu_ns);
        return 0;
    }
    check_idleness(now, cpu_ns);
    if (!idle_ || gap > max_gap_ns) return 0;
    return std::min<long>(max_idle_sleep_ns, (now - idle_since_) / idle_per_sleep);
}

void RepeatedTests::end_sleep(CallText const& call) {
    record(call);   // counted by tests, records would now be too rare
    last_end_ = now_ns();
    last_end_cpu_ns_ = thread_time_ns();
}

RepeatedTests::CoreRelease RepeatedTests::next_release(bool moved) {
    std::int64_t const now = now_ns();
    bool const again = !moved && now - last_test_ < busy_gap_ns;
    last_test_ = now;
    if (!again) {
        consecutive_tests_ = 0;
        consecutive_since_ = now;
    }
    ++consecutive_tests_;
    bool const soon = policy_ == WaitPolicy::shared ? consecutive_tests_ < tests_before_yield
                                                    : now - consecutive_since_ < tests_for_ns;
    if (soon) return CoreRelease::none;
    consecutive_tests_ = 0;
    consecutive_since_ = now;
    rank_state_.times.yielded_tests.add(1);
    Contention& contention = lock_.contention;
    bool const contended = contention.update(now);
    bool const yields = !contended || (policy_ == WaitPolicy::shared && contention.has_neighbours());
    return sleep_after_ns_ == 0 || yields ? CoreRelease::yield : CoreRelease::sleep;
}

/// Records that the rank polls without progress: one test in tests_per_record updates the record. A rank that takes
/// longer than max_pause_ns from one update to the next does other work between its polls; its record starts
/// anew. The limit corresponds to 12 ms per poll: with 3 ms, a rank that slept for 1 ms between polls did not count
/// as polling on a busy machine.
void RepeatedTests::record(CallText const& call) {
    BusyPoll& busy_poll = rank_state_.busy_poll;
    std::uint64_t const progress_count = rank_state_.blocked.progress_count.load(std::memory_order_relaxed);
    std::int64_t const now = now_ns(), last = busy_poll.last.load(std::memory_order_relaxed);
    if (progress_count == busy_poll.progress_count && last != 0 && now - last < max_pause_ns) {
        bool const is_published = busy_poll.changes.load(std::memory_order_relaxed) % 2 != 0;
        if (!is_published && now - busy_poll.since.load(std::memory_order_relaxed) > publish_polling_after_ns) {
            std::string text;
            unless_out_of_memory([&] { return text = call.text(), true; });
            char const* const name = rank_state_.last_call.function.name();
            publish_current_call(busy_poll.call, text.empty() ? name : text);
            busy_poll.changes.fetch_add(1, std::memory_order_release);
        }
        if (is_published && observer) observer->on_long_wait(now - busy_poll.since.load());
    } else {
        if (busy_poll.changes.load(std::memory_order_relaxed) % 2 != 0)
            busy_poll.changes.fetch_add(1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        busy_poll.progress_count = progress_count;
        busy_poll.since.store(now, std::memory_order_relaxed);
    }
    busy_poll.last.store(now, std::memory_order_relaxed);
}

// Publication of blocked waits: written under the counter `changes`, and checked again later where other threads may
// act.

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t min_recheck_pause_ns = 20'000'000, max_recheck_pause_ns = 1'000'000'000;
constexpr std::int64_t wait_per_inspection_ns = 4'000'000;   // a hundred times the cost of inspecting a thread

/// Invalidates the whole record.
void withdraw(Blocked& record) {
    std::uint64_t const changes = record.changes.load(std::memory_order_relaxed);
    if (changes % 2 == 0) return;
    record.changes.store(changes + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
}

/// Describes a wait that may be over by now, so what it waits for must not be queried.
BlockedCall call_of(Reason const& reason) {
    BlockedCall blocked;
    blocked.call = reason.operation;
    return blocked;
}

}   // namespace

bool BlockedWaits::add(void const* wait, Reason const& reason) {
    pid_t const thread = gettid();
    if (waits_.size() == Blocked::max_threads ||
        std::ranges::find(waits_, thread, &PublishedWait::thread) != waits_.end())
        return false;
    std::int64_t const begin = thread_time_ns();
    std::uint64_t stack[PublishedCall::max_addresses];
    std::size_t const addresses = program_stack(stack);
    waits_.push_back({wait, &reason, thread, {stack, stack + addresses}, script_location(), now_ns()});
    due_ = 0;
    allowance_.spend(thread_time_ns() - begin);
    return true;
}

void BlockedWaits::remove(void const* wait, std::int64_t now) {
    withdraw(record_);
    std::erase_if(waits_, [wait](PublishedWait const& one) { return one.wait == wait; });
    pause_ns_ = 0;
    due_ = now + min_recheck_pause_ns;
}

bool BlockedWaits::no_thread_can_act(OtherThreads others, std::int64_t now) const {
    if (!others.exist) return true;
    if (!others.all_asleep) return false;
    std::vector<pid_t> threads = exempt_;
    for (PublishedWait const& one : waits_) threads.push_back(one.thread);
    if (others.progress_thread != 0) threads.push_back(others.progress_thread);
    std::int64_t const waited = now - waits_.back().since;
    return !others_may_act(threads, static_cast<std::size_t>(waited / (wait_per_inspection_ns * ranks_per_core_)));
}

void BlockedWaits::publish(OtherThreads others, std::span<Pollable* const> pollables, std::int64_t now) {
    std::int64_t const begin = thread_time_ns();
    std::vector<BlockedCall> blocked_calls;
    for (PublishedWait const& one : waits_)
        blocked_calls.push_back(others.all_asleep ? one.reason->blocked_call() : call_of(*one.reason));
    for (Pollable* const pollable : pollables) pollable->describe(blocked_calls.front());
    bool const is_certain = no_thread_can_act(others, now);
    for (BlockedCall& one : blocked_calls)
        if (!is_certain || one.awaited.size() + one.others.size() > BlockedThread::max_ranges) one.await_unknown();
    pause_ns_ = is_certain ? 0 : std::clamp(2 * pause_ns_, min_recheck_pause_ns, max_recheck_pause_ns);
    due_ = is_certain ? never : now + pause_ns_;
    bool const valid = record_.changes.load(std::memory_order_relaxed) % 2 != 0;
    if (!valid || record_.threads != waits_.size() || blocked_calls != published_) write(blocked_calls);
    published_ = std::move(blocked_calls);
    allowance_.spend(thread_time_ns() - begin);
}

void BlockedWaits::write(std::vector<BlockedCall> const& blocked_calls) {
    withdraw(record_);
    record_.threads = static_cast<std::uint32_t>(waits_.size());
    for (std::size_t i = 0; i < waits_.size(); ++i) {
        BlockedThread& record = record_.thread[i];
        BlockedCall const& blocked = blocked_calls[i];
        record.awaiting = blocked.awaiting;
        record.ranges = static_cast<std::uint32_t>(blocked.awaited.size());
        record.further_ranges = static_cast<std::uint32_t>(blocked.others.size());
        std::ranges::copy(blocked.others, std::ranges::copy(blocked.awaited, record.awaited).out);
        record.call.write(blocked.kind, blocked.call, waits_[i].stack, waits_[i].script);
        record.error.write(blocked.hint.code, blocked.hint.headline, blocked.hint.help);
        record.waiting_rank = blocked.hint.waiting_rank;
    }
    record_.changes.store(record_.changes.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}   // namespace tutti
