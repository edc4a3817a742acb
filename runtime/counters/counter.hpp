// SPDX-License-Identifier: BSD-3-Clause
// A number that one rank alone counts up, now and then read by somebody else: no order is needed.
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti {

class Counter {
public:
    void add(std::uint64_t n) { set(read() + n); }
    void set(std::uint64_t n) { value_.store(n, std::memory_order_relaxed); }
    std::uint64_t read() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

}   // namespace tutti
