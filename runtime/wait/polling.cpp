// SPDX-License-Identifier: BSD-3-Clause
// Records that a rank polls without progress: one call in polls_per_record updates the record.
#include <cstdio>
#include <new>

#include "runtime/wait/call_stack.hpp"
#include "runtime/wait/script_place.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti {
namespace {

constexpr std::int64_t shown_after_ns = 1'000'000'000, longest_pause_ns = 3'000'000'000;

/// Empty also where there is no memory to find it: the call that looks has not failed.
template <std::size_t N>
void put_script_place(char (&place)[N]) {
    place[0] = 0;
    try {
        std::snprintf(place, N, "%s", script_place().c_str());
    } catch (std::bad_alloc const&) {}
}

}   // namespace

/// A rank that takes longer from one record to the next does other work between its polls; its record begins anew.
/// The limit is 12 ms a poll: with 3 ms, a rank that slept for 1 ms between polls did not count as polling on a busy
/// machine.
void Waiter::note_polling() {
    Polling& shown = rank_state_.polling;
    std::uint64_t const moves = rank_state_.blocked.moves.load(std::memory_order_relaxed);
    std::int64_t const now = now_ns(), last = shown.last.load(std::memory_order_relaxed);
    if (moves == shown.moves && last != 0 && now - last < longest_pause_ns) {
        bool const told = shown.changes.load(std::memory_order_relaxed) % 2 != 0;
        if (!told && now - shown.since.load(std::memory_order_relaxed) > shown_after_ns) {
            shown.addresses = static_cast<std::uint32_t>(program_stack(shown.stack));
            std::snprintf(shown.call, sizeof shown.call, "%s", call_name_ ? *call_name_ : "");
            put_script_place(shown.script);
            shown.changes.fetch_add(1, std::memory_order_release);
        }
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
