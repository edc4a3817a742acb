// SPDX-License-Identifier: BSD-3-Clause
// CMA: the kernel copies between two address spaces, in one direction or the other.
#include "runtime/ladder.hpp"

#include <cerrno>
#include <cstring>

#include <sys/prctl.h>
#include <sys/uio.h>

#include "runtime/error.hpp"

namespace tutti {

Ladder::Ladder(Segment const& segment, bool allow_cma) : segment_(segment), allowed_(allow_cma) {
    // Where Yama guards ptrace, ranks are siblings and may reach each other only if they say so; elsewhere a no-op.
    if (allow_cma) prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

template <class Move>
bool Ladder::move(unsigned peer, std::uint64_t address, std::byte* local, std::size_t bytes, Move call) {
    if (!cma()) return false;
    pid_t pid = segment_.card(peer).pid.load(std::memory_order_relaxed);
    while (bytes != 0) {
        iovec here{local, bytes}, there{reinterpret_cast<void*>(address), bytes};
        ssize_t moved = call(pid, &here, 1, &there, 1, 0);
        if (moved > 0) {
            local += moved;
            address += static_cast<std::uint64_t>(moved);
            bytes -= static_cast<std::size_t>(moved);
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

bool Ladder::read(unsigned peer, std::uint64_t address, void* to, std::size_t bytes) {
    return move(peer, address, static_cast<std::byte*>(to), bytes, process_vm_readv);
}

bool Ladder::write(unsigned peer, std::uint64_t address, void const* from, std::size_t bytes) {
    return move(peer, address, static_cast<std::byte*>(const_cast<void*>(from)), bytes, process_vm_writev);
}

}  // namespace tutti
