// SPDX-License-Identifier: BSD-3-Clause
// The single-copy methods: how one rank gets at another's bytes. Its steps from the top: arenas (load and store), XPMEM
// (the same, where the kernel has it), CMA (process_vm_readv and writev), and copy-in-copy-out through the segment,
// which always works and is the caller's. The first refusal by the system moves one step down for good, silently.
//
// CMA needs the right to trace a process, and where Yama guards that, siblings such as ranks have it only if the traced
// one gives it to every process of its user (PR_SET_PTRACER_ANY). A rank does so when it first shows memory that lies
// outside of its arena, and not before: a job whose messages lie in arenas stays as guarded as it was.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/copy.hpp"
#include "runtime/memory/peer_arenas.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/memory/xpmem.hpp"

namespace tutti {

/// How a peer gets at bytes that a rank shows, best first.
enum class AccessPath : std::uint32_t {
    load_store,   ///< by load and store, for certain: they lie in an arena
    attach,       ///< by load and store if the system lets the peer attach to them (XPMEM)
    cma,          ///< by a copy that the kernel makes
    staged,       ///< not at all: their owner lays them out in the segment
};

/// The steps that may be tried; the last one always may.
struct Steps {
    bool arena = true;
    char const* xpmem = nullptr;   ///< the library to try, see xpmem.hpp
    bool cma = true;
    bool huge_pages = true;   ///< ask for them where peers' arenas are mapped
};

class SingleCopy {
public:
    /// `rank` is this rank's state in the segment.
    SingleCopy(Segment const& segment, unsigned rank, Steps allowed, Copier const& copier);

    /// May CMA be tried? False once any rank of the node has been refused.
    bool cma() const { return allowed_.cma && segment_.header().cma_forbidden.load(std::memory_order_relaxed) == 0; }

    /// Can this rank reach the arenas of all others?
    bool maps_arenas() { return allowed_.arena && arenas_.map(); }
    /// Do these bytes of this rank's own memory lie in its arena, and can it reach the arenas of all others?
    bool direct(void const* address, std::size_t bytes) { return in_own_arena(address, bytes) && arenas_.map(); }
    /// The best way for peers to bytes of this rank's own memory, which are about to be shown to them;
    /// AccessPath::load_store as direct() tells.
    AccessPath way(void const* address, std::size_t bytes);
    /// The same for who shows them to one peer and does not ask how that gets there.
    void show(void const* address, std::size_t bytes) {
        if (permitted_ || !cma()) return;
        if (!in_own_arena(address, bytes) || segment_.header().arenas_refused.load(std::memory_order_relaxed) != 0)
            permit_cma();
    }

    /// Where this rank can load and store what lies at `address` in the memory of the node's rank `peer`; null when
    /// there is no such way. All of it is counted as reached. Never null for what the peer calls AccessPath::load_store
    /// if this rank has called something so.
    std::byte* reach(unsigned peer, std::uint64_t address, std::size_t bytes);
    /// Would reach() give something? Not counted.
    bool reaches(unsigned peer, std::uint64_t address, std::size_t bytes);

    /// Copies `bytes` bytes at `address` in the memory of the node's rank `peer`. False when the peer has shown no
    /// memory outside of arenas, and when the system refuses: then cma() is false from now on, for every rank of the
    /// node. Nothing is then promised about `to`. Throws Error
    /// when the address is not the peer's. `working_set` as in Copier::copy.
    bool read(unsigned peer, std::uint64_t address, void* to, std::size_t bytes, std::size_t working_set);
    /// The other direction, with the same rules.
    bool write(unsigned peer, std::uint64_t address, void const* from, std::size_t bytes, std::size_t working_set);
    // Without more to say: this copy is all that is touched.
    bool read(unsigned peer, std::uint64_t address, void* to, std::size_t bytes) {
        return read(peer, address, to, bytes, 2 * bytes);
    }
    bool write(unsigned peer, std::uint64_t address, void const* from, std::size_t bytes) {
        return write(peer, address, from, bytes, 2 * bytes);
    }

private:
    bool in_own_arena(void const* address, std::size_t bytes) const {
        return allowed_.arena && in_arena(segment_.rank_state(rank_), reinterpret_cast<std::uint64_t>(address), bytes);
    }
    void permit_cma();
    template <class Move>
    bool move(unsigned peer, std::uint64_t address, std::byte* local, std::size_t bytes, Move call);

    Segment const& segment_;
    unsigned rank_;
    Counters& counters_;
    Steps allowed_;
    bool permitted_ = false;   ///< peers may copy by CMA
    Copier const& copier_;
    PeerArenas arenas_;
    Xpmem xpmem_;
};

}   // namespace tutti
