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

}   // namespace tutti
