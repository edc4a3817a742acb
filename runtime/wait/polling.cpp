// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/polling.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"
#include "runtime/trace/call_stack.hpp"
#include "runtime/trace/script_place.hpp"

namespace tutti {
namespace {

constexpr std::int64_t shown_after_ns = 1'000'000'000, longest_pause_ns = 3'000'000'000;
constexpr std::int64_t between_checks_ns = 1'000'000;
constexpr int tests_before_yield = 4;           // where ranks outnumber cores
constexpr std::int64_t tests_for_ns = 25'000;   // elsewhere: a sleep and a wake-up would cost as much
constexpr std::int64_t at_work_ns = 50'000;     // a program that takes so long between two tests does other work there
// Naps of an idle program. They delay what else it may wait for by 4 % of the time that it has been idle. A program
// that itself sleeps for long between its tests needs none.
constexpr long longest_idle_nap_ns = 10'000'000;
constexpr std::int64_t idle_per_nap = 25, longest_gap_ns = 2'000'000;

/// Empty also where there is no memory to find it: the call has not failed.
template <std::size_t N>
void put_script_place(char (&place)[N]) {
    place[0] = 0;
    try {
        std::snprintf(place, N, "%s", script_place().c_str());
    } catch (std::bad_alloc const&) {}
}

}   // namespace

/// Polls of the program's own leave no gap in the clock, but the kernel counts switches, those of yields among them.
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

/// A program that sleeps between its tests uses little processor time. `used`: so far, by this thread.
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
    if (gap == now) return 0;                                        // nothing is known of the time between two tests
    if (gap < at_work_ns || 4 * used_in_gap > gap || lock_.on()) {   // it polls without a pause, or has work to do
        count_idleness_anew(now, used);
        return 0;
    }
    check_idleness(now, used);
    if (!idle_ || gap > longest_gap_ns) return 0;
    return std::min<long>(longest_idle_nap_ns, (now - idle_since_) / idle_per_nap);
}

void RepeatedTests::end_nap(CallText const& call) {
    record(call);   // counted by tests, these records would come too seldom now
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

/// Records that the rank polls without progress: one test in tests_per_record updates the record.
/// A rank that takes longer from one record to the next does other work between its polls; its record begins anew.
/// The limit is 12 ms a poll: with 3 ms, a rank that slept for 1 ms between polls did not count as polling on a busy
/// machine.
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

}   // namespace tutti
