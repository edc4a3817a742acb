// SPDX-License-Identifier: BSD-3-Clause
// The slow paths of the environment between processes: waiting, and this rank's staging memory.
#include "coll/shm_env.hpp"

#include "coll/state.hpp"

namespace tutti::coll {

void CommState::wait_for_channel(char const* operation) {
    std::uint64_t least = ~std::uint64_t{0};
    for (int m = 0; m < area.members(); ++m) {
        Flag const& done = area.done(m);
        if (m == rank) continue;
        process.waiter.until([&] { return done.reached(op - channel_depth); }, {operation, m, -1, 0});
        least = std::min(least, done.read());
    }
    safe = least > last_operation - channel_depth ? last_operation : least + channel_depth;
}

FramePool& ShmMemory::frames() { return comm_.process.frames; }

std::size_t ShmMemory::staging_bytes() const { return state_of(comm_.process).staging_bytes; }

void ShmMemory::reserve_staging(std::size_t bytes) {
    ProcessState& node = state_of(comm_.process);
    if (bytes <= node.staging_room) return;
    if (node.staging != 0) comm_.process.heap.release(std::exchange(node.staging, 0));
    node.staging_room = bytes;
}

std::uint64_t ShmMemory::staging_offset() {
    ProcessState& node = state_of(comm_.process);
    if (node.staging == 0) node.staging = comm_.process.heap.allocate(node.staging_room);
    return node.staging;
}

void ShmMemory::wait(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer) const {
    comm_.process.waiter.until([&] { return word.load(std::memory_order_acquire) >= value; },
                               {operation_, comm_.united->world_rank(peer), -1, comm_.context});
}

}  // namespace tutti::coll
