// SPDX-License-Identifier: BSD-3-Clause
// Stripes: locks for accumulates that the processor cannot do at once. The window's memory is cut into granules of 4
// KiB by the addresses that it has at its owner; each granule belongs to one of the owner's stripes. Who works on
// elements that begin in a granule holds its stripe, and holds no other: so there is no circle. It is held for the time
// of reading and writing 4 KiB, and nobody waits while holding one.
#pragma once

#include "rma/node/control.hpp"

namespace tutti::rma {

inline constexpr std::uint64_t granule_bytes = 4096;

class HeldStripe {
public:
    /// Waits for the stripe of the element at `address` (of `owner`'s address space).
    HeldStripe(Control& owner, std::uint64_t address)
        : word_(owner.stripe[address / granule_bytes % Control::stripes].word) {
        if (!take()) [[unlikely]]
            wait();
    }
    ~HeldStripe() { word_.store(0, std::memory_order_release); }
    HeldStripe(HeldStripe const&) = delete;
    HeldStripe& operator=(HeldStripe const&) = delete;

private:
    bool take() {
        std::uint64_t free = 0;
        return word_.load(std::memory_order_relaxed) == 0 &&
               word_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed);
    }
    void wait();

    Word& word_;
};

}   // namespace tutti::rma
