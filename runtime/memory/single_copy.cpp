// SPDX-License-Identifier: BSD-3-Clause
// The single-copy methods: load and store where memory is shared or can be attached to, CMA where it is not.
#include "runtime/memory/single_copy.hpp"

#include <cerrno>
#include <cstring>

#include <sys/prctl.h>
#include <sys/uio.h>

#include "runtime/base/error.hpp"

namespace tutti {

SingleCopy::SingleCopy(Segment const& segment, unsigned rank, Steps allowed, Copier const& copier)
    : segment_(segment), rank_(rank), counters_(segment.rank_state(rank).counters), allowed_(allowed), copier_(copier),
      arenas_(segment, counters_, allowed.huge_pages), xpmem_(segment, rank, allowed.xpmem) {
    if (!allowed.arena) segment.header().arenas_refused.store(1, std::memory_order_relaxed);
}

AccessPath SingleCopy::way(void const* address, std::size_t bytes) {
    if (direct(address, bytes)) return AccessPath::load_store;
    bool const copied = cma();
    if (copied && !permitted_) permit_cma();   // also where XPMEM comes first: it may turn out to refuse
    if (xpmem_.offered()) return AccessPath::attach;
    return copied ? AccessPath::cma : AccessPath::staged;
}

/// Does nothing where there is no Yama.
void SingleCopy::permit_cma() {
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    permitted_ = true;
    segment_.rank_state(rank_).cma_permitted.store(1, std::memory_order_release);
}

std::byte* SingleCopy::reach(unsigned peer, std::uint64_t address, std::size_t bytes) {
    if (std::byte* there = allowed_.arena ? arenas_.at(peer, address, bytes) : nullptr) {
        counters_.direct.add(bytes);
        return there;
    }
    std::byte* there = xpmem_.at(peer, address, bytes);
    if (there) counters_.attached.add(bytes);
    return there;
}

bool SingleCopy::reaches(unsigned peer, std::uint64_t address, std::size_t bytes) {
    return (allowed_.arena && arenas_.at(peer, address, bytes)) || xpmem_.at(peer, address, bytes);
}

template <class Move>
bool SingleCopy::move(unsigned peer, std::uint64_t address, std::byte* local, std::size_t bytes, Move call) {
    if (!cma() || segment_.rank_state(peer).cma_permitted.load(std::memory_order_acquire) == 0) return false;
    pid_t pid = segment_.rank_state(peer).pid.load(std::memory_order_relaxed);
    while (bytes != 0) {
        iovec here{local, bytes}, there{reinterpret_cast<void*>(address), bytes};
        ssize_t moved = call(pid, &here, 1, &there, 1, 0);
        if (moved > 0) {
            local += moved;
            address += static_cast<std::uint64_t>(moved);
            bytes -= static_cast<std::size_t>(moved);
            counters_.cma.add(static_cast<std::uint64_t>(moved));
        } else if (moved < 0 && errno == EINTR) {
            continue;
        } else if (moved < 0 && errno == EFAULT) {
            fail(ErrorClass::buffer, "the buffer of rank ", peer, " does not lie in that rank's memory (", bytes,
                 " bytes missing)");
        } else {   // EPERM, ENOSYS, ESRCH (another pid namespace): one step down, for all and for good
            segment_.header().cma_forbidden.store(1, std::memory_order_relaxed);
            return false;
        }
    }
    return true;
}

bool SingleCopy::read(unsigned peer, std::uint64_t address, void* to, std::size_t bytes, std::size_t working_set) {
    if (std::byte const* from = reach(peer, address, bytes)) {
        copier_.copy(to, from, bytes, working_set);
        return true;
    }
    return move(peer, address, static_cast<std::byte*>(to), bytes, process_vm_readv);
}

bool SingleCopy::write(unsigned peer, std::uint64_t address, void const* from, std::size_t bytes,
                       std::size_t working_set) {
    if (std::byte* to = reach(peer, address, bytes)) {
        copier_.copy(to, from, bytes, working_set);
        return true;
    }
    return move(peer, address, static_cast<std::byte*>(const_cast<void*>(from)), bytes, process_vm_writev);
}

}   // namespace tutti
