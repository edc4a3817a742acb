// SPDX-License-Identifier: BSD-3-Clause
// The single-copy methods: load and store where memory is shared or can be attached, CMA otherwise.
#include "runtime/memory/single_copy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/base/process_identity.hpp"

namespace tutti {
namespace {

/// Returns a nonzero value, or 0 if the system has no random bytes.
std::uint64_t random_value() {
    std::uint64_t value = 0;
    return getrandom(&value, sizeof value, 0) == sizeof value ? value | 1 : 0;
}

/// Bytes that one call copies without allocating kernel memory for its list of pages, 16 of which fit on its stack
/// (mm/process_vm_access.c).
constexpr std::size_t pages_without_memory = 15 * 4096;

/// Returns true if an error means that CMA is refused for every copy.
bool refused_for_good(int error) { return error == EPERM || error == ENOSYS; }

std::size_t bytes_of(std::span<iovec const> segments) {
    std::size_t sum = 0;
    for (iovec const& one : segments) sum += one.iov_len;
    return sum;
}

/// Removes the first `bytes` bytes of a list.
void skip(std::span<iovec>& segments, std::size_t bytes) {
    while (!segments.empty() && bytes >= segments.front().iov_len) {
        bytes -= segments.front().iov_len;
        segments = segments.subspan(1);
    }
    if (bytes == 0) return;
    iovec& first = segments.front();
    first = {static_cast<std::byte*>(first.iov_base) + bytes, first.iov_len - bytes};
}

}   // namespace

bool cma_works() {
    char from = 1, to = 0;
    iovec here{&to, sizeof to}, there{&from, sizeof from};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof to;
}

SingleCopy::SingleCopy(Segment const& segment, unsigned rank, CopyMethods allowed, Copier const& copier)
    : segment_(segment), rank_(rank), counters_(segment.rank_state(rank).counters), allowed_(allowed),
      namespace_(pid_namespace()), identity_value_(random_value()), identities_(segment.ranks()), copier_(copier),
      arenas_(segment, counters_, allowed.huge_pages),
      xpmem_(segment, rank, allowed.xpmem, allowed.registration_cache) {
    RankState& own_state = segment.rank_state(rank);
    own_state.identity_address.store(reinterpret_cast<std::uint64_t>(&identity_value_), std::memory_order_relaxed);
    own_state.identity_value.store(identity_value_, std::memory_order_relaxed);
    own_state.pid_namespace.store(namespace_, std::memory_order_release);
    own_state.cma_denied.store(allowed.cma && cma_works() ? 0 : 1, std::memory_order_relaxed);
    if (!allowed.arena) segment.header().arenas_refused.store(1, std::memory_order_relaxed);
}

AccessPath SingleCopy::access_path(void const* address, std::size_t bytes) {
    if (direct(address, bytes)) return AccessPath::load_store;
    AccessPath const by_kernel = kernel_path();   // also where XPMEM is preferred: it may turn out to refuse
    return xpmem_.is_exposed() ? AccessPath::attach : by_kernel;
}

AccessPath SingleCopy::kernel_path() {
    if (!cma()) {
        revoke_cma();
        return AccessPath::staged;
    }
    if (!cma_granted_) grant_cma();
    return AccessPath::cma;
}

/// Permits peers to trace this process; without Yama the call does nothing. Yama lets a named process and its
/// descendants trace the caller, and all ranks of the node descend from the launcher. A launcher without a number in
/// this pid namespace cannot be named, and another MPI's launcher may not be an ancestor of all ranks.
void SingleCopy::grant_cma() {
    SegmentHeader const& h = segment_.header();
    bool const named = h.launcher != 0 && same_pid_namespace(namespace_, h.launcher_namespace);
    prctl(PR_SET_PTRACER, named ? static_cast<unsigned long>(h.launcher) : PR_SET_PTRACER_ANY, 0, 0, 0);
    cma_granted_ = true;
    segment_.rank_state(rank_).cma_granted.store(1, std::memory_order_release);
}

void SingleCopy::revoke_cma() {
    if (!cma_granted_) return;
    cma_granted_ = false;
    segment_.rank_state(rank_).cma_granted.store(0, std::memory_order_relaxed);
    prctl(PR_SET_PTRACER, 0UL, 0, 0, 0);
}

std::byte* SingleCopy::local_address(unsigned peer, std::uint64_t address, std::size_t bytes, OwnAttachments* own) {
    if (std::byte* there = allowed_.arena ? arenas_.at(peer, address, bytes) : nullptr) {
        counters_.direct.add(bytes);
        return there;
    }
    std::byte* there = xpmem_.at(peer, address, bytes, own);
    if (there) counters_.attached.add(bytes);
    return there;
}

bool SingleCopy::has_local_address(unsigned peer, std::uint64_t address, std::size_t bytes, OwnAttachments* own) {
    return (allowed_.arena && arenas_.at(peer, address, bytes)) || xpmem_.at(peer, address, bytes, own);
}

bool SingleCopy::may_copy_by_kernel(unsigned peer) const {
    RankState const& mine = segment_.rank_state(rank_);
    RankState const& there = segment_.rank_state(peer);
    if (mine.cma_denied.load(std::memory_order_relaxed) || there.cma_denied.load(std::memory_order_relaxed))
        return false;
    return peer == rank_ || same_pid_namespace(namespace_, there.pid_namespace.load(std::memory_order_relaxed));
}

bool SingleCopy::is_isolated() {
    if (isolation_ != Isolation::unknown) return isolation_ == Isolation::yes;
    bool all_started = segment_.ranks() > 1;
    for (unsigned peer = 0; peer < segment_.ranks(); ++peer) {
        if (peer == rank_) continue;
        RankState const& there = segment_.rank_state(peer);
        bool const started = has_started(peer);
        if (same_pid_namespace(namespace_, there.pid_namespace.load(std::memory_order_relaxed)))
            return isolation_ = Isolation::no, false;
        all_started = all_started && started;
    }
    if (all_started) isolation_ = Isolation::yes;
    return all_started;
}

/// Verifies that the process with a peer's number is the peer, by reading only the random value. A process with
/// the same number in another pid namespace is not accessed at all.
SingleCopy::Identity SingleCopy::verify_identity(RankState const& peer) {
    std::uint64_t const expected = peer.identity_value.load(std::memory_order_relaxed);
    if (expected == 0 || !same_pid_namespace(namespace_, peer.pid_namespace.load(std::memory_order_relaxed)))
        return Identity::mismatch;
    std::uint64_t found = 0;
    iovec here{&found, sizeof found},
        there{reinterpret_cast<void*>(peer.identity_address.load(std::memory_order_relaxed)), sizeof found};
    ssize_t const moved = process_vm_readv(peer.pid.load(std::memory_order_relaxed), &here, 1, &there, 1, 0);
    if (moved == sizeof found) return found == expected ? Identity::verified : Identity::mismatch;
    if (moved < 0 && refused_for_good(errno)) forbid_cma();
    return moved >= 0 || errno == EFAULT ? Identity::mismatch : Identity::unknown;
}

bool SingleCopy::cma(unsigned peer) {
    RankState const& there = segment_.rank_state(peer);
    if (!cma() || there.cma_granted.load(std::memory_order_acquire) == 0) return false;
    if (identities_[peer] == Identity::unknown) identities_[peer] = verify_identity(there);
    return identities_[peer] == Identity::verified;
}

template <class Move>
bool SingleCopy::move(unsigned peer, std::span<iovec> there, std::span<iovec> here, Move call) {
    if (!cma(peer)) return false;
    pid_t const pid = segment_.rank_state(peer).pid.load(std::memory_order_relaxed);
    std::size_t missing = bytes_of(here);
    bool in_small_parts = false;
    while (missing != 0) {
        iovec small_here = here.front(), small_there = there.front();
        small_here.iov_len = small_there.iov_len =
            std::min({small_here.iov_len, small_there.iov_len, pages_without_memory});
        ssize_t const moved = in_small_parts ? call(pid, &small_here, 1, &small_there, 1, 0)
                                             : call(pid, here.data(), here.size(), there.data(), there.size(), 0);
        if (moved > 0) {
            auto const bytes = static_cast<std::size_t>(moved);
            skip(here, bytes);
            skip(there, bytes);
            missing -= bytes;
            counters_.cma.add(bytes);
        } else if (moved < 0 && errno == EINTR) {
            continue;
        } else if (moved < 0 && errno == EFAULT) {
            fail(ErrorClass::buffer, "the buffer of rank ", segment_.rank_state(peer).world_rank,
                 " of MPI_COMM_WORLD does not lie in that rank's memory (", missing, " bytes missing)");
        } else if (moved < 0 && errno == ENOMEM && !in_small_parts && missing > pages_without_memory) {
            in_small_parts = true;
        } else {   // the caller uses the next method, for this copy only unless the refusal is permanent
            if (moved < 0 && refused_for_good(errno)) forbid_cma();
            return false;
        }
    }
    return true;
}

bool SingleCopy::read(unsigned peer, std::uint64_t address, void* to, std::size_t bytes, std::size_t working_set,
                      OwnAttachments* own) {
    OwnAttachments of_this_copy;
    if (std::byte const* from = local_address(peer, address, bytes, own ? own : &of_this_copy)) {
        copier_.copy(to, from, bytes, working_set);
        return true;
    }
    iovec here{to, bytes}, there{reinterpret_cast<void*>(address), bytes};
    return move(peer, {&there, 1}, {&here, 1}, process_vm_readv);
}

bool SingleCopy::write(unsigned peer, std::uint64_t address, void const* from, std::size_t bytes,
                       std::size_t working_set) {
    OwnAttachments of_this_copy;
    if (std::byte* to = local_address(peer, address, bytes, &of_this_copy)) {
        copier_.copy(to, from, bytes, working_set);
        return true;
    }
    iovec here{const_cast<void*>(from), bytes}, there{reinterpret_cast<void*>(address), bytes};
    return move(peer, {&there, 1}, {&here, 1}, process_vm_writev);
}

bool SingleCopy::read_segments(unsigned peer, std::span<iovec> there, std::span<iovec> here) {
    return move(peer, there, here, process_vm_readv);
}

bool SingleCopy::write_segments(unsigned peer, std::span<iovec> there, std::span<iovec> here) {
    return move(peer, there, here, process_vm_writev);
}

}   // namespace tutti
