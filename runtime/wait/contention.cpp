// SPDX-License-Identifier: BSD-3-Clause
// Learns from the kernel's count of context switches how long a useless yield takes.
#include "runtime/wait/contention.hpp"

#include <utility>

#include <sys/resource.h>

namespace tutti {
namespace {

constexpr int yields_per_count = 16;

/// Yields of a thread since its switches were last counted.
struct Yields {
    int number = 0;
    std::int64_t duration_ns = 0;
    long switches = -1;   ///< at that time; −1: not counted
};
thread_local Yields yields_of_thread;

}   // namespace

long Contention::involuntary_switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

/// Resets the counts: it was another group's turn, which says nothing about the thread's own group.
Contention::Yield Contention::record_long_yield(std::int64_t now) {
    yields_of_thread = {};
    return add_evidence(now) ? Yield::lost_slice : Yield::useful;
}

void Contention::count_yield(std::int64_t duration_ns) {
    Yields& yields = yields_of_thread;
    yields.duration_ns += duration_ns;
    if (++yields.number < yields_per_count) return;
    long const now = involuntary_switches();
    if (yields.switches >= 0) record_switches(now - yields.switches, yields.number, yields.duration_ns);
    yields = {.switches = now};
}

void Contention::record_switches(long switches, int yields, std::int64_t duration_ns) {
    neighbours_.store(3 * switches > yields, std::memory_order_relaxed);
    if (switches != 0) return;
    // All were useless; a yield that takes a third longer than their average has let another thread run.
    std::int64_t const limit = duration_ns / yields * 4 / 3;
    useless_yield_ns_.store(std::clamp(limit, min_useless_yield_ns, max_useless_yield_ns), std::memory_order_relaxed);
}

}   // namespace tutti
