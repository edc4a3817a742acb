// SPDX-License-Identifier: BSD-3-Clause
// The clock by which waits and calls are timed: the same for all processes of a node, never set back.
#pragma once

#include <cstdint>
#include <ctime>

namespace tutti {

/// Nanoseconds; costs some twenty.
inline std::int64_t now_ns() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

/// Processor time of the calling thread in nanoseconds; unlike now_ns() it stands still while other threads have the
/// core. A system call of some 0.3 us.
inline std::int64_t thread_time_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

}   // namespace tutti
