// SPDX-License-Identifier: BSD-3-Clause
// Copies between this process's memory and a peer's by the kernel that takes least there. Which one does, differs from
// processor to processor (copy_loops.hpp): so the first copies of each kind are made by the kernels in turn and timed,
// and all later ones by the one with the least time, as adaptive choices in YHCCL (section 4.2), but measured.
//
// Lock-free: a case's `trials` gives each trial to one thread. Costs and `fastest` are words of their own, which may be
// altered late or lost between two threads: then another kernel is taken, and each of them copies right.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/kernels/copy_kernels.hpp"

namespace tutti {

class MeasuredCopier {
public:
    enum class Direction { put, get };
    using Clock = std::int64_t (*)();   ///< nanoseconds

    static constexpr std::size_t least_bytes = 4096;   ///< below, kernels do not differ by what a clock can tell
    static constexpr std::size_t most_kernels = 4;
    static constexpr unsigned rounds = 8;   ///< trials of each kernel: the least time counts, so one calm one is enough

    /// Those of the processor.
    MeasuredCopier();
    /// One to `most_kernels` of them.
    MeasuredCopier(std::vector<CopyKernel> kernels, Clock clock);

    /// `n` bytes, at least `least_bytes`, between memories that do not overlap: to a peer's (put) or from there (get).
    /// Any thread.
    void copy(Direction direction, void* to, void const* from, std::size_t n) {
        Case& c = cases_[case_of(direction, to, from, n)];
        if (CopyKernel const fastest = c.fastest.load(std::memory_order_relaxed)) [[likely]]
            return fastest(to, from, n);
        try_next(c, to, from, n);
    }

private:
    static constexpr std::size_t sizes = 12;   // each twice the one before, the last without end

    /// Copies that are taken to be alike: direction, size, and whether both sides lie alike on lines, for which some
    /// processors move whole lines.
    struct Case {
        std::atomic<CopyKernel> fastest{nullptr};                      ///< null: still being measured
        std::atomic<unsigned> trials{0};                               ///< begun
        std::array<std::atomic<std::uint64_t>, most_kernels> cost{};   ///< ns for 64 KiB, the least; 0: none yet
    };

    static std::size_t case_of(Direction direction, void const* to, void const* from, std::size_t n) {
        constexpr std::uintptr_t line = 64;
        std::size_t const size = static_cast<std::size_t>(std::bit_width(n / least_bytes)) - 1;
        bool const alike = (reinterpret_cast<std::uintptr_t>(to) ^ reinterpret_cast<std::uintptr_t>(from)) % line == 0;
        return ((size < sizes ? size : sizes - 1) * 2 + alike) * 2 + (direction == Direction::put);
    }
    void try_next(Case& c, void* to, void const* from, std::size_t n);

    std::vector<CopyKernel> const kernels_;
    Clock const clock_;
    std::array<Case, sizes * 4> cases_{};
};

}   // namespace tutti
