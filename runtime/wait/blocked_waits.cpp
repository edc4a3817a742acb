// SPDX-License-Identifier: BSD-3-Clause
// Records of polling and blocked ranks: the heuristics of repeated tests (RepeatedTests, polling.hpp) and the
// publication of blocked waits (ShownWaits).
#include "runtime/wait/blocked_waits.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <new>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"
#include "runtime/state/call_site.hpp"
#include "runtime/wait/other_threads.hpp"
#include "runtime/wait/polling.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti {
namespace {

constexpr std::int64_t shown_after_ns = 1'000'000'000, longest_pause_ns = 3'000'000'000;
constexpr std::int64_t between_checks_ns = 1'000'000;
constexpr int tests_before_yield = 4;           // where ranks outnumber cores
constexpr std::int64_t tests_for_ns = 25'000;   // elsewhere: a sleep and a wake-up would cost as much
constexpr std::int64_t at_work_ns = 50'000;     // a program that takes this long between two tests does other work
// Naps of an idle program. They delay other events that it may wait for by 4 % of the time that it has been idle. A
// program that itself sleeps for long between its tests needs none.
constexpr long longest_idle_nap_ns = 10'000'000;
constexpr std::int64_t idle_per_nap = 25, longest_gap_ns = 2'000'000;

/// Stores script_place(), or an empty string if memory is exhausted: the call must not fail for that.
template <std::size_t N>
void put_script_place(char (&place)[N]) {
    place[0] = 0;
    try {
        std::snprintf(place, N, "%s", script_place().c_str());
    } catch (std::bad_alloc const&) {}
}

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
    if (before != 0 && switches_ != before && !yielded) lock_.contention.note_gap(Contention::lost_slice_ns, now);
    lock_.contention.update(now);
    if (naps_ && !lock_.on()) check_idleness(now, thread_time_ns());
}

void RepeatedTests::count_idleness_anew(std::int64_t now, std::int64_t used) {
    idle_ = false;
    idle_since_ = now;
    idle_used_ = used;
}

/// Detects a program that sleeps between its tests: it uses little processor time. `used`: total of this thread.
void RepeatedTests::check_idleness(std::int64_t now, std::int64_t used) {
    std::uint64_t const moves = rank_state_.blocked.moves.load(std::memory_order_relaxed);
    if (idle_since_ == 0 || moves != idle_moves_ || 4 * (used - idle_used_) > now - idle_since_) {
        count_idleness_anew(now, used);
        idle_moves_ = moves;
    } else if (!idle_ && now - idle_since_ > sleep_after_ns_) {
        idle_ = true;
        left_ = 0;
    }
}

long RepeatedTests::begin_nap() {
    std::int64_t const now = now_ns(), used = thread_time_ns();
    std::int64_t const gap = now - std::exchange(left_, now), used_in_gap = used - std::exchange(left_used_, used);
    if (gap == now) return 0;                                        // unknown time between two tests
    if (gap < at_work_ns || 4 * used_in_gap > gap || lock_.on()) {   // it polls continuously, or has work to do
        count_idleness_anew(now, used);
        return 0;
    }
    check_idleness(now, used);
    if (!idle_ || gap > longest_gap_ns) return 0;
    return std::min<long>(longest_idle_nap_ns, (now - idle_since_) / idle_per_nap);
}

void RepeatedTests::end_nap(CallText const& call) {
    record(call);   // counted by tests, records would now be too rare
    left_ = now_ns();
    left_used_ = thread_time_ns();
}

RepeatedTests::Gives RepeatedTests::give_core_away(bool moved) {
    std::int64_t const now = now_ns();
    bool const again = !moved && now - last_ < at_work_ns;
    last_ = now;
    if (!again) {
        in_a_row_ = 0;
        row_since_ = now;
    }
    ++in_a_row_;
    bool const soon = policy_ == WaitPolicy::shared ? in_a_row_ < tests_before_yield : now - row_since_ < tests_for_ns;
    if (soon) return Gives::nothing;
    in_a_row_ = 0;
    row_since_ = now;
    rank_state_.times.yielded_looks.add(1);
    Contention& contention = lock_.contention;
    bool const contended = contention.update(now);
    bool const yields = !contended || (policy_ == WaitPolicy::shared && contention.has_neighbours());
    return sleep_after_ns_ == 0 || yields ? Gives::yield : Gives::nap;
}

/// Records that the rank polls without progress: one test in tests_per_record updates the record. A rank that takes
/// longer than longest_pause_ns from one update to the next does other work between its polls; its record starts
/// anew. The limit corresponds to 12 ms per poll: with 3 ms, a rank that slept for 1 ms between polls did not count
/// as polling on a busy machine.
void RepeatedTests::record(CallText const& call) {
    Polling& shown = rank_state_.polling;
    std::uint64_t const moves = rank_state_.blocked.moves.load(std::memory_order_relaxed);
    std::int64_t const now = now_ns(), last = shown.last.load(std::memory_order_relaxed);
    if (moves == shown.moves && last != 0 && now - last < longest_pause_ns) {
        bool const told = shown.changes.load(std::memory_order_relaxed) % 2 != 0;
        if (!told && now - shown.since.load(std::memory_order_relaxed) > shown_after_ns) {
            shown.addresses = static_cast<std::uint32_t>(program_stack(shown.stack));
            std::string text;
            unless_out_of_memory([&] { return text = call.text(), true; });
            char const* const name = call_name_ ? *call_name_ : "";
            std::snprintf(shown.call, sizeof shown.call, "%s", text.empty() ? name : text.c_str());
            put_script_place(shown.script);
            shown.changes.fetch_add(1, std::memory_order_release);
        }
        if (told && unsupervised_) unsupervised_(unsupervised_context_, now - shown.since.load());
    } else {
        if (shown.changes.load(std::memory_order_relaxed) % 2 != 0)
            shown.changes.fetch_add(1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        shown.moves = moves;
        shown.since.store(now, std::memory_order_relaxed);
    }
    shown.last.store(now, std::memory_order_relaxed);
}

// Publication of blocked waits: written under the counter `changes`, and checked again later where other threads may
// act.

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t first_pause_ns = 20'000'000, longest_pause_between_looks_ns = 1'000'000'000;
constexpr std::int64_t waited_for_each_look_ns = 4'000'000;   // a hundred times the cost of inspecting a thread

/// Invalidates the whole record.
void withdraw(Blocked& shown) {
    std::uint64_t const changes = shown.changes.load(std::memory_order_relaxed);
    if (changes % 2 == 0) return;
    shown.changes.store(changes + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
}

template <std::size_t N>
void put(char (&field)[N], std::string const& text) {
    std::snprintf(field, N, "%s", text.c_str());
}

void put(BlockedThread& shown, Blockage const& blockage) {
    shown.awaiting = blockage.awaiting;
    shown.ranges = static_cast<std::uint32_t>(blockage.awaited.size());
    shown.others = static_cast<std::uint32_t>(blockage.others.size());
    std::ranges::copy(blockage.others, std::ranges::copy(blockage.awaited, shown.awaited).out);
    put(shown.call, blockage.call);
    shown.noticed_of = blockage.hint.about;
    put(shown.code, blockage.hint.code);
    put(shown.headline, blockage.hint.headline);
    put(shown.help, blockage.hint.help);
}

/// Describes a wait that may be over by now, so what it waits for must not be queried.
Blockage call_of(Reason const& why) {
    Blockage blockage;
    blockage.call = why.operation;
    return blockage;
}

}   // namespace

bool ShownWaits::add(void const* wait, Reason const& why) {
    pid_t const thread = gettid();
    if (waits_.size() == Blocked::most_threads || std::ranges::find(waits_, thread, &Wait::thread) != waits_.end())
        return false;
    std::int64_t const begin = thread_time_ns();
    std::uint64_t stack[BlockedThread::most_addresses];
    std::size_t const addresses = program_stack(stack);
    waits_.push_back({wait, &why, thread, {stack, stack + addresses}, script_place(), now_ns()});
    due_ = 0;
    allowance_.spend(thread_time_ns() - begin);
    return true;
}

void ShownWaits::remove(void const* wait, std::int64_t now) {
    withdraw(shown_);
    std::erase_if(waits_, [wait](Wait const& one) { return one.wait == wait; });
    pause_ns_ = 0;
    due_ = now + first_pause_ns;
}

bool ShownWaits::alone(Company company, std::int64_t now) const {
    if (!company.several) return true;
    if (!company.asleep) return false;
    std::vector<pid_t> threads = exempt_;
    for (Wait const& one : waits_) threads.push_back(one.thread);
    if (company.helper != 0) threads.push_back(company.helper);
    std::int64_t const waited = now - waits_.back().since;
    return !others_may_act(threads, static_cast<std::size_t>(waited / (waited_for_each_look_ns * sharing_)));
}

void ShownWaits::show(Company company, std::span<Pollable* const> pollables, std::int64_t now) {
    std::int64_t const begin = thread_time_ns();
    std::vector<Blockage> blockages;
    for (Wait const& one : waits_) blockages.push_back(company.asleep ? one.why->blockage() : call_of(*one.why));
    for (Pollable* const pollable : pollables) pollable->tell(blockages.front());
    bool const sure = alone(company, now);
    for (Blockage& one : blockages)
        if (!sure || one.awaited.size() + one.others.size() > BlockedThread::most_ranges) one.await_unknown();
    pause_ns_ = sure ? 0 : std::clamp(2 * pause_ns_, first_pause_ns, longest_pause_between_looks_ns);
    due_ = sure ? never : now + pause_ns_;
    bool const valid = shown_.changes.load(std::memory_order_relaxed) % 2 != 0;
    if (!valid || shown_.threads != waits_.size() || blockages != blockages_) write(blockages);
    blockages_ = std::move(blockages);
    allowance_.spend(thread_time_ns() - begin);
}

void ShownWaits::write(std::vector<Blockage> const& blockages) {
    withdraw(shown_);
    shown_.threads = static_cast<std::uint32_t>(waits_.size());
    for (std::size_t i = 0; i < waits_.size(); ++i) {
        BlockedThread& shown = shown_.thread[i];
        put(shown, blockages[i]);
        put(shown.script, waits_[i].script);
        shown.addresses = static_cast<std::uint32_t>(waits_[i].stack.size());
        std::ranges::copy(waits_[i].stack, shown.stack);
    }
    shown_.changes.store(shown_.changes.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}   // namespace tutti
