// SPDX-License-Identifier: BSD-3-Clause
// The single-copy methods, in order of preference: how one rank accesses another's bytes. Arenas (load and store),
// XPMEM (load and store, if the kernel supports it), CMA (process_vm_readv and process_vm_writev), and
// copy-in-copy-out through the segment, which always works and is implemented by the caller. If the system refuses a
// method, the next one is used without a message: permanently and for all ranks of the node if CMA is forbidden
// (EPERM) or missing (ENOSYS), otherwise for that copy alone.
//
// CMA identifies a process by its number. A number identifies a rank only if both processes are in the same pid
// namespace and a random value that the rank has chosen is found in the memory of that process. A rank reads this
// value before it first copies from or to a peer, and reads or writes nothing else in a process that does not have
// it.
//
// CMA requires the right to trace a process. Where Yama restricts that, siblings such as ranks have the right only if
// the traced process grants it (PR_SET_PTRACER). A rank grants it when it first exposes memory outside of its arena,
// to the processes that its launcher has started, directly or indirectly, or, if it cannot name the launcher, to
// every process of its user. It revokes the grant in MPI_Finalize, and when CMA turns out to be refused. A job whose
// messages lie in arenas stays as protected as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <sys/uio.h>

#include "runtime/kernels/copy.hpp"
#include "runtime/memory/peer_arenas.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/memory/xpmem.hpp"

namespace tutti {

/// How a peer accesses bytes that a rank exposes, in order of preference.
enum class AccessPath : std::uint32_t {
    load_store,   ///< load and store, guaranteed: the bytes lie in an arena
    attach,       ///< load and store if the system lets the peer attach to them (XPMEM)
    cma,          ///< a copy by the kernel
    staged,       ///< no direct access: the owner stages the bytes in the segment
};

/// The methods that may be tried; staging is always permitted.
struct CopyMethods {
    bool arena = true;
    char const* xpmem = nullptr;   ///< the library to load, see xpmem.hpp
    bool cma = true;
    bool huge_pages = true;           ///< request them for the mappings of peers' arenas
    bool registration_cache = true;   ///< of XPMEM's attachments, see xpmem.hpp
};

/// Returns true if the system copies between processes (CMA) at all; it may still refuse it between two of them.
bool cma_works();

class SingleCopy {
public:
    /// `rank` is the local rank of the caller.
    SingleCopy(Segment const& segment, unsigned rank, CopyMethods allowed, Copier const& copier);

    /// Returns true if CMA may be tried. False once any rank of the node has been refused permanently, or if no other
    /// rank of the node can be identified by its process number here.
    bool cma() {
        return allowed_.cma && segment_.header().cma_forbidden.load(std::memory_order_relaxed) == 0 && !is_isolated();
    }
    /// Returns true if CMA may be tried with the memory of `peer`: the peer has exposed memory outside of arenas, and
    /// its process number is verified.
    bool cma(unsigned peer);

    /// Returns false if no rank of the node can load and store in its peers' buffers: the same at all ranks.
    bool may_load() const { return segment_.header().loads_ruled_out == 0; }
    /// Returns false if the system does not copy them either.
    bool may_copy() const { return segment_.header().copies_ruled_out == 0; }
    /// Returns false if the system copies no memory between ranks of the node: the same at all ranks.
    bool may_copy_by_kernel() const { return segment_.header().kernel_copies_ruled_out == 0; }
    /// Returns true if local rank `peer` has called MPI_Init, so that may_copy_by_kernel(peer) may be asked.
    bool has_started(unsigned peer) const {
        return segment_.rank_state(peer).state.load(std::memory_order_acquire) != RankPhase::absent;
    }
    /// Returns false if the system copies no memory between this rank and `peer`, because it forbids that to either of
    /// them, or because they are in separate pid namespaces. Both ranks get the same answer.
    bool may_copy_by_kernel(unsigned peer) const;
    /// Returns false if this rank exposes no memory as AccessPath::attach (any more).
    bool may_attach() const { return xpmem_.is_exposed(); }
    /// Returns false if this rank cannot access the arenas of all others although the settings permit it.
    bool can_load_peers() { return !allowed_.arena || arenas_.map(); }
    /// Returns true if this rank can access the arenas of all others.
    bool maps_arenas() { return allowed_.arena && arenas_.map(); }
    /// Returns true if these bytes of this rank lie in its arena and it can access the arenas of all others.
    bool direct(void const* address, std::size_t bytes) { return in_own_arena(address, bytes) && arenas_.map(); }
    /// Returns the preferred access path for peers to bytes of this rank that are about to be exposed to them:
    /// AccessPath::load_store exactly if direct() is true. Otherwise also grants CMA, if CMA may be tried.
    AccessPath access_path(void const* address, std::size_t bytes);
    /// The same for peers that let the kernel copy, whatever the memory is: AccessPath::cma or AccessPath::staged.
    AccessPath kernel_path();
    /// Revokes the permission for CMA: no peer copies from or to this rank's memory any more.
    void revoke_cma();
    /// Grants CMA as access_path() does, for callers that expose memory to one peer and do not need the access path.
    void expose(void const* address, std::size_t bytes) {
        if (cma_granted_ || !cma()) return;
        if (!in_own_arena(address, bytes) || segment_.header().arenas_refused.load(std::memory_order_relaxed) != 0)
            grant_cma();
    }

    /// Returns the local address for load and store of what lies at `address` in the memory of local rank `peer`;
    /// null if there is no such access. All bytes are counted as accessed. Never null for memory that the peer
    /// exposes as AccessPath::load_store, provided that this rank has exposed something that way. `own`: the
    /// attachments of the operation for which the address must be valid; null: it remains valid (Xpmem::at).
    std::byte* local_address(unsigned peer, std::uint64_t address, std::size_t bytes, OwnAttachments* own = nullptr);
    /// Returns true if local_address() would succeed. Not counted.
    bool has_local_address(unsigned peer, std::uint64_t address, std::size_t bytes, OwnAttachments* own = nullptr);

    /// Copies `bytes` bytes from `address` in the memory of local rank `peer`. Returns false if neither local_address()
    /// nor cma(peer) permits it, or if the system refuses, permanently or for this copy; the contents of `to` are then
    /// unspecified. Throws Error if the address is not in the peer's memory. `working_set` as for Copier::copy. `own`
    /// as for local_address; null: the address is needed for this copy alone.
    bool read(unsigned peer, std::uint64_t address, void* to, std::size_t bytes, std::size_t working_set,
              OwnAttachments* own = nullptr);
    /// Copies in the other direction, by the same rules.
    bool write(unsigned peer, std::uint64_t address, void const* from, std::size_t bytes, std::size_t working_set);
    // Same where nothing but this copy is touched.
    bool read(unsigned peer, std::uint64_t address, void* to, std::size_t bytes) {
        return read(peer, address, to, bytes, 2 * bytes);
    }
    bool write(unsigned peer, std::uint64_t address, void const* from, std::size_t bytes) {
        return write(peer, address, from, bytes, 2 * bytes);
    }
    /// Copies by CMA alone, from the segments `there` of the memory of local rank `peer` to the segments `here`; the
    /// same rules otherwise. One call of the system copies them all. Both lists have at least one segment, at most
    /// IOV_MAX, none of them empty, and the same number of bytes in total. Modifies the lists.
    bool read_segments(unsigned peer, std::span<iovec> there, std::span<iovec> here);
    /// Copies in the other direction.
    bool write_segments(unsigned peer, std::span<iovec> there, std::span<iovec> here);

private:
    bool in_own_arena(void const* address, std::size_t bytes) const {
        return allowed_.arena && in_arena(segment_.rank_state(rank_), reinterpret_cast<std::uint64_t>(address), bytes);
    }
    /// What is known about the process with a peer's number.
    enum class Identity : std::uint8_t { unknown, verified, mismatch };

    void grant_cma();
    void forbid_cma() { segment_.header().cma_forbidden.store(1, std::memory_order_relaxed); }
    /// Returns true if all other ranks of the node are in other pid namespaces. False as long as some have not
    /// started.
    bool is_isolated();
    Identity verify_identity(RankState const& peer);
    template <class Move>
    bool move(unsigned peer, std::span<iovec> there, std::span<iovec> here, Move call);

    Segment const& segment_;
    unsigned rank_;
    Counters& counters_;
    CopyMethods allowed_;
    bool cma_granted_ = false;   ///< peers may copy by CMA
    std::uint64_t const namespace_, identity_value_;
    std::vector<Identity> identities_;   ///< by local rank
    enum class Isolation : std::uint8_t { unknown, yes, no } isolation_ = Isolation::unknown;
    Copier const& copier_;
    PeerArenas arenas_;
    Xpmem xpmem_;
};

}   // namespace tutti
