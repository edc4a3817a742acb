// SPDX-License-Identifier: BSD-3-Clause
// Clocks for timing waits and calls. now_ns() is the same for all processes of a node and is never set back.
#pragma once

#include <cstdint>
#include <ctime>

namespace tutti {

/// Returns the time in nanoseconds since an arbitrary origin (CLOCK_MONOTONIC). Takes about 20 ns.
inline std::int64_t now_ns() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

/// Returns the processor time of the calling thread in nanoseconds. Unlike now_ns() it stops while other threads have
/// the core. It is a system call of about 0.3 us.
inline std::int64_t thread_time_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

}   // namespace tutti
