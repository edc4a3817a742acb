// SPDX-License-Identifier: BSD-3-Clause
// The single-copy methods: how one rank gets at another's bytes. Its steps from the top: arenas (load and store), XPMEM
// (the same, where the kernel has it), CMA (process_vm_readv and writev), and copy-in-copy-out through the segment,
// which always works and is the caller's. A refusal by the system moves one step down, silently: for good, and for all
// ranks of the node, where it says that CMA is forbidden (EPERM) or missing (ENOSYS), else for that copy alone.
//
// CMA reaches a process by its number. A number means its rank only where both processes are in one pid namespace and a
// value that the rank has chosen by chance is found in the memory of that process: a rank reads this value before it
// first copies from or to a peer, and reads or writes nothing else of a process that does not have it.
//
// CMA needs the right to trace a process, and where Yama guards that, siblings such as ranks have it only if the traced
// one gives it (PR_SET_PTRACER). A rank gives it when it first shows memory that lies outside of its arena, to the
// processes that its launcher has started, directly or not, or, where it cannot name the launcher, to every process of
// its user. It takes it back in MPI_Finalize, and when CMA turns out to be refused. A job whose messages lie in arenas
// stays as guarded as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

    /// May CMA be tried? False once any rank of the node has been refused for good, and where no other rank of the node
    /// is known by its number here.
    bool cma() {
        return allowed_.cma && segment_.header().cma_forbidden.load(std::memory_order_relaxed) == 0 && !is_alone();
    }
    /// May it be tried with the memory of `peer`? Only if that has exposed memory outside of arenas, and its number is
    /// proven to mean it.
    bool cma(unsigned peer);

    /// Can this rank reach the arenas of all others?
    bool maps_arenas() { return allowed_.arena && arenas_.map(); }
    /// Do these bytes of this rank's own memory lie in its arena, and can it reach the arenas of all others?
    bool direct(void const* address, std::size_t bytes) { return in_own_arena(address, bytes) && arenas_.map(); }
    /// The best way for peers to bytes of this rank's own memory, which are about to be shown to them;
    /// AccessPath::load_store as direct() tells.
    AccessPath way(void const* address, std::size_t bytes);
    /// No peer copies from or to this rank's memory any more.
    void end_cma();
    /// The same as way() for who shows them to one peer and does not ask how that gets there.
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

    /// Copies `bytes` bytes at `address` in the memory of the node's rank `peer`. False when cma(peer) is, and when the
    /// system refuses, for good or this copy alone; nothing is then promised about `to`. Throws Error when the address
    /// is not the peer's. `working_set` as in Copier::copy.
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
    /// What is known about the process that has a peer's number.
    enum class Identity : std::uint8_t { unknown, proven, stranger };

    void permit_cma();
    void forbid_cma() { segment_.header().cma_forbidden.store(1, std::memory_order_relaxed); }
    /// Are all other ranks of the node in other pid namespaces? False as long as some have not started.
    bool is_alone();
    Identity identify(RankState const& peer);
    template <class Move>
    bool move(unsigned peer, std::uint64_t address, std::byte* local, std::size_t bytes, Move call);

    Segment const& segment_;
    unsigned rank_;
    Counters& counters_;
    Steps allowed_;
    bool permitted_ = false;   ///< peers may copy by CMA
    std::uint64_t const namespace_, proof_;
    std::vector<Identity> identities_;   ///< by peer
    enum class Alone : std::uint8_t { unknown, yes, no } alone_ = Alone::unknown;
    Copier const& copier_;
    PeerArenas arenas_;
    Xpmem xpmem_;
};

}   // namespace tutti
