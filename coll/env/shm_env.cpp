// SPDX-License-Identifier: BSD-3-Clause
// The slow paths of the shared-memory environment: waiting, and this rank's staging memory.
#include "coll/env/shm_env.hpp"

#include "coll/env/group_layout.hpp"
#include "coll/env/operation_sequence.hpp"

namespace tutti::coll {

std::size_t ShmMemory::staging_bytes() const { return memory_of(comm_.process).staging_bytes; }

void ShmMemory::reserve_staging(std::size_t bytes) {
    memory_of(comm_.process).stagings.enlarge(comm_.process.heap, bytes);
    if (staging_.bytes != 0 && staging_.bytes < bytes) release_staging();
}

void ShmMemory::acquire_staging() { staging_ = memory_of(comm_.process).stagings.acquire(comm_.process.heap); }

void ShmMemory::release_staging() {
    memory_of(comm_.process).stagings.release(comm_.process.heap, std::exchange(staging_, {}));
}

bool ShmMemory::wait_unless_suspending(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer) const {
    if (suspension_) return false;
    auto const& env = static_cast<ShmEnv const&>(*this);
    auto reached = [&] { return has_reached(word.load(std::memory_order_acquire), value); };
    comm_.process.waiter.wait_until([&] { return reached() || env.failed(); }, wait_reason(comm_, operation_, peer),
                                    &word);
    if (!reached()) [[unlikely]]
        throw_failure_of(comm_, env.failed_rank());
    return true;
}

void throw_failure_of(Comm const& comm, int member) {
    fail(ErrorClass::no_mem, "rank ", comm.union_group->world_rank(member),
         " of MPI_COMM_WORLD has no memory left to continue the operation");
}

}   // namespace tutti::coll
