// SPDX-License-Identifier: BSD-3-Clause
// The single-copy ladder: how one rank gets at another's bytes. Its steps from the top are arenas (load and store),
// XPMEM, CMA (process_vm_readv and writev), and copy-in-copy-out through the segment, which always works and is the
// caller's. The first refusal by the system moves the whole node one step down for good, silently.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/segment.hpp"

namespace tutti {

class Ladder {
public:
    Ladder(Segment const& segment, bool allow_cma);

    /// May CMA be tried? False once any rank of the node has been refused.
    bool cma() const { return allowed_ && segment_.header().cma_forbidden.load(std::memory_order_relaxed) == 0; }

    /// Copies `bytes` bytes at `address` in the memory of the node's rank `peer`. False when the system refuses;
    /// nothing is then promised about `to`, and cma() is false from now on, for every rank of the node. Throws Error
    /// when the address is not the peer's.
    bool read(unsigned peer, std::uint64_t address, void* to, std::size_t bytes);
    /// The other direction, with the same rules.
    bool write(unsigned peer, std::uint64_t address, void const* from, std::size_t bytes);

private:
    template <class Move>
    bool move(unsigned peer, std::uint64_t address, std::byte* local, std::size_t bytes, Move call);

    Segment const& segment_;
    bool allowed_;
};

}  // namespace tutti
