// SPDX-License-Identifier: BSD-3-Clause
// A flag: one writer, many readers, on its own cache line, counting up and never reset. What the writer wrote before
// `publish` is visible to whoever has seen the value (release and acquire), on weakly ordered machines too.
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti {

inline constexpr std::size_t cache_line = 64;   ///< bytes; the unit in which flags and slots are laid out

struct alignas(cache_line) Flag {
    std::atomic<std::uint64_t> value{0};

    /// Writer only. Values must not fall.
    void publish(std::uint64_t v) { value.store(v, std::memory_order_release); }
    bool reached(std::uint64_t v) const { return value.load(std::memory_order_acquire) >= v; }
    std::uint64_t read() const { return value.load(std::memory_order_acquire); }
};

static_assert(sizeof(Flag) == cache_line && std::atomic<std::uint64_t>::is_always_lock_free);

inline void cpu_pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace tutti
