// SPDX-License-Identifier: BSD-3-Clause
// Sleeping on a word of memory, within a process and between the processes of a node.
#pragma once

#include <atomic>
#include <bit>
#include <climits>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tutti {

inline constexpr int everybody = INT_MAX;

/// Sleeps while `word` is `value`, at most so long.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value, long longest_ns) {
    timespec const longest{longest_ns / 1'000'000'000, longest_ns % 1'000'000'000};
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, value, &longest, nullptr, 0);
}

inline void futex_wake(std::atomic<std::uint32_t>& word, int how_many) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, how_many, nullptr, nullptr, 0);
}

/// The same by the lower half of a word: the kernel compares no more.
inline void futex_wait(std::atomic<std::uint64_t> const& word, std::uint64_t value, long longest_ns) {
    static_assert(std::endian::native == std::endian::little);
    timespec const longest{longest_ns / 1'000'000'000, longest_ns % 1'000'000'000};
    syscall(SYS_futex, &word, FUTEX_WAIT, static_cast<std::uint32_t>(value), &longest, nullptr, 0);
}

inline void futex_wake(std::atomic<std::uint64_t>& word, int how_many) {
    syscall(SYS_futex, &word, FUTEX_WAKE, how_many, nullptr, nullptr, 0);
}

}   // namespace tutti
