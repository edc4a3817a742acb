// SPDX-License-Identifier: BSD-3-Clause
// Copies between this process's memory and a peer's with the kernel that is the fastest there, which differs between
// processors (copy_loops.hpp). The first copies of each case use the kernels in turn and are timed; all later ones use
// the kernel with the least time. YHCCL (section 4.2) also adapts its choice, but does not measure. On an EPYC of the
// fourth generation, puts and gets of 4 to 64 KiB take 0.96 to 1.03 of the time with the kernels of collectives, and of
// 256 KiB to 4 MiB 0.64 to 0.84.
//
// Lock-free: fetch_add on a case's `trials` gives each trial to exactly one thread. `cost` and `fastest` are
// independent words. An update of them may be late or lost if two threads write at the same time; another kernel is
// then chosen, and every kernel copies correctly.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/kernels/copy.hpp"

namespace tutti {

class MeasuredCopier {
public:
    enum class Direction { put, get };
    using Clock = std::int64_t (*)();   ///< nanoseconds

    /// Smallest copy in bytes. In smaller ones the clock cannot resolve the difference between kernels.
    static constexpr std::size_t min_bytes = 4096;
    static constexpr std::size_t max_kernels = 4;
    /// Trials per kernel. The minimum counts, so one undisturbed trial is enough.
    static constexpr unsigned trials_per_kernel = 8;

    /// Chooses among the kernels of this processor.
    MeasuredCopier();
    /// `kernels`: one to `max_kernels` of them.
    MeasuredCopier(std::vector<CopyKernel> kernels, Clock clock);

    /// Copies `n` bytes, at least `min_bytes`, between memory areas that do not overlap, to a peer (put) or from a
    /// peer (get). May be called by any thread.
    void copy(Direction direction, void* to, void const* from, std::size_t n) {
        Case& c = cases_[case_of(direction, to, from, n)];
        if (CopyKernel const fastest = c.fastest.load(std::memory_order_relaxed)) [[likely]]
            return fastest(to, from, n);
        measure_next(c, to, from, n);
    }

private:
    static constexpr std::size_t sizes = 12;   ///< each class is twice the previous one; the last has no limit

    /// Copies that are treated alike: same direction, size class, and equal or different alignment of source and
    /// destination to lines (if it is equal, some processors move whole lines).
    struct Case {
        std::atomic<CopyKernel> fastest{nullptr};                     ///< null: still measuring
        std::atomic<unsigned> trials{0};                              ///< number of trials begun
        std::array<std::atomic<std::uint64_t>, max_kernels> cost{};   ///< least ns per 64 KiB; 0: unknown
    };

    static std::size_t case_of(Direction direction, void const* to, void const* from, std::size_t n) {
        constexpr std::uintptr_t line = 64;
        std::size_t const size = static_cast<std::size_t>(std::bit_width(n / min_bytes)) - 1;
        bool const alike = (reinterpret_cast<std::uintptr_t>(to) ^ reinterpret_cast<std::uintptr_t>(from)) % line == 0;
        return ((size < sizes ? size : sizes - 1) * 2 + alike) * 2 + (direction == Direction::put);
    }
    void measure_next(Case& c, void* to, void const* from, std::size_t n);

    std::vector<CopyKernel> const kernels_;
    Clock const clock_;
    std::array<Case, sizes * 4> cases_{};
};

inline MeasuredCopier::MeasuredCopier() : MeasuredCopier(candidate_copy_kernels(), now_ns) {}

inline MeasuredCopier::MeasuredCopier(std::vector<CopyKernel> kernels, Clock clock)
    : kernels_(std::move(kernels)), clock_(clock) {}

inline void MeasuredCopier::measure_next(Case& c, void* to, void const* from, std::size_t n) {
    unsigned const trial = c.trials.fetch_add(1, std::memory_order_relaxed);
    std::size_t const count = kernels_.size(), kernel = trial % count;
    std::int64_t const start = clock_();
    kernels_[kernel](to, from, n);
    std::uint64_t const cost = (static_cast<std::uint64_t>(clock_() - start) << 16) / n + 1;
    std::uint64_t const before = c.cost[kernel].load(std::memory_order_relaxed);
    if (before == 0 || cost < before) c.cost[kernel].store(cost, std::memory_order_relaxed);
    if (trial + 1 < trials_per_kernel * count) return;
    auto const best = std::min_element(c.cost.begin(), c.cost.begin() + static_cast<std::ptrdiff_t>(count),
                                       [](auto const& a, auto const& b) { return a.load() - 1 < b.load() - 1; });
    c.fastest.store(kernels_[static_cast<std::size_t>(best - c.cost.begin())], std::memory_order_relaxed);
}

}   // namespace tutti
