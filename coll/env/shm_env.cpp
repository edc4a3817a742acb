// SPDX-License-Identifier: BSD-3-Clause
// The slow paths of the shared-memory environment: waiting, and this rank's staging memory.
#include "coll/env/shm_env.hpp"

#include "coll/env/group_layout.hpp"
#include "coll/env/operation_sequence.hpp"

namespace tutti::coll {

std::size_t ShmMemory::staging_bytes() const { return memory_of(comm_.process).staging_bytes; }

void ShmMemory::reserve_staging(std::size_t bytes) {
    memory_of(comm_.process).stagings.enlarge(comm_.process.heap, bytes);
    if (staging_.bytes != 0 && staging_.bytes < bytes) give_staging_back();
}

void ShmMemory::take_staging() { staging_ = memory_of(comm_.process).stagings.take(comm_.process.heap); }

void ShmMemory::give_staging_back() {
    memory_of(comm_.process).stagings.put(comm_.process.heap, std::exchange(staging_, {}));
}

bool ShmMemory::waited(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer) const {
    if (suspension_) return false;
    auto const& env = static_cast<ShmEnv const&>(*this);
    auto come = [&] { return has_come(word.load(std::memory_order_acquire), value); };
    comm_.process.waiter.until([&] { return come() || env.failed(); }, reason_in(comm_, operation_, peer), &word);
    if (!come()) [[unlikely]]
        throw_failure_of(comm_, env.failed_member());
    return true;
}

void throw_failure_of(Comm const& comm, int member) {
    fail(ErrorClass::no_mem, "rank ", comm.union_group->world_rank(member),
         " of MPI_COMM_WORLD has no memory left to go on with the operation");
}

}   // namespace tutti::coll
