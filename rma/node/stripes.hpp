// SPDX-License-Identifier: BSD-3-Clause
// Stripes: locks for accumulates that the processor cannot do at once. The window's memory is cut into granules of 4
// KiB by the addresses that it has at its owner; each granule belongs to one of the owner's stripes. Who works on
// elements that begin in a granule holds its stripe, and holds no other: so there is no circle. It is held for the time
// of reading and writing 4 KiB, and nobody waits while holding one.
#pragma once

#include "rma/node/control.hpp"
#include "runtime/wait/short_wait.hpp"

namespace tutti::rma {

inline constexpr std::uint64_t granule_bytes = 4096;

class HeldStripe {
public:
    /// Waits for the stripe of the element at `address` (of the address space of member `owner`). Throws Error if a
    /// member has ended while it held that.
    HeldStripe(NodeMembers const& members, std::size_t owner, std::uint64_t address)
        : lock_(members.controls[owner]->stripe[address / granule_bytes % Control::stripes].word) {
        if (!lock_.try_enter(members.me + 1)) [[unlikely]]
            wait(members);
    }
    ~HeldStripe() { lock_.leave(); }
    HeldStripe(HeldStripe const&) = delete;
    HeldStripe& operator=(HeldStripe const&) = delete;

private:
    void wait(NodeMembers const& members);

    ShortLock lock_;
};

}   // namespace tutti::rma
