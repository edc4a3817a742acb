// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/kernels/measured_copier.hpp"

#include <algorithm>

#include "runtime/base/clock.hpp"

namespace tutti {

MeasuredCopier::MeasuredCopier() : MeasuredCopier(copies_to_choose_from(), now_ns) {}

MeasuredCopier::MeasuredCopier(std::vector<CopyKernel> kernels, Clock clock)
    : kernels_(std::move(kernels)), clock_(clock) {}

void MeasuredCopier::try_next(Case& c, void* to, void const* from, std::size_t n) {
    unsigned const trial = c.trials.fetch_add(1, std::memory_order_relaxed);
    std::size_t const count = kernels_.size(), kernel = trial % count;
    std::int64_t const start = clock_();
    kernels_[kernel](to, from, n);
    std::uint64_t const cost = (static_cast<std::uint64_t>(clock_() - start) << 16) / n + 1;
    std::uint64_t const before = c.cost[kernel].load(std::memory_order_relaxed);
    if (before == 0 || cost < before) c.cost[kernel].store(cost, std::memory_order_relaxed);
    if (trial + 1 < rounds * count) return;
    auto const best = std::min_element(c.cost.begin(), c.cost.begin() + static_cast<std::ptrdiff_t>(count),
                                       [](auto const& a, auto const& b) { return a.load() - 1 < b.load() - 1; });
    c.fastest.store(kernels_[static_cast<std::size_t>(best - c.cost.begin())], std::memory_order_relaxed);
}

}   // namespace tutti
