// SPDX-License-Identifier: BSD-3-Clause
#include "tests/coll/threads/thread_env.hpp"

#include <gtest/gtest.h>

#include "runtime/base/error.hpp"
#include "tests/coll/threads/ranks.hpp"

namespace tutti::coll {

using test::wait_until;

template class Environment<ThreadMemory>;

ThreadWorld::ThreadWorld(int ranks, topo::Hierarchy tree, AccessPath allowed, std::size_t staging)
    : trees(std::move(tree)), way(allowed), staging_bytes(staging),
      memory(static_cast<std::byte*>(std::aligned_alloc(cache_line, bytes(ranks))), std::free),
      area(memory.get(), ranks), stagings(static_cast<std::size_t>(ranks)), more_staging(stagings.size()),
      traffic(stagings.size()), staged(stagings.size()), kernel_bytes(stagings.size()), kernel_calls(stagings.size()),
      loading_agreed(stagings.size()), plans(stagings.size()), refused_for(stagings.size(), -1),
      writers_(static_cast<int*>(std::calloc(bytes(ranks) / sizeof(std::uint64_t), sizeof(int))), std::free) {
    std::memset(memory.get(), 0, bytes(ranks));
    area.set_region_memory(memory.get() + Area::bytes(ranks));
    for (auto& s : stagings) s.resize(staging);
}

std::atomic_ref<int> ThreadWorld::writer(std::atomic<std::uint64_t> const& word) {
    auto const at = static_cast<std::size_t>(reinterpret_cast<std::byte const*>(&word) - memory.get()) / sizeof word;
    return std::atomic_ref(writers_[at]);
}

void ThreadMemory::reserve_staging(std::size_t bytes) {
    auto& mine = world_.stagings[static_cast<std::size_t>(rank_)];
    if (mine.size() < bytes) mine.resize(bytes);
}

StagingMemory ThreadMemory::more_staging(std::size_t bytes) {
    bytes = std::max(bytes, world_.staging_bytes);
    std::byte* const memory = more_stagings_.emplace_back(new std::byte[bytes]).get();
    world_.more_staging[static_cast<std::size_t>(rank_)] += bytes;
    return {reinterpret_cast<std::uint64_t>(memory), bytes};
}

ThreadMemory::Awaiter ThreadMemory::until(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer) {
    if (world_.on_wait) world_.on_wait(rank_, peer);
    return {*this, word, value, peer};
}

ThreadMemory::AnyAwaiter ThreadMemory::until_any(Events const& events, int peer) {
    if (world_.on_wait) world_.on_wait(rank_, peer);
    return {*this, events};
}

void ThreadMemory::wake_waiters(std::atomic<std::uint64_t> const& word) {
    world_.writer(word).store(rank_ + 1, std::memory_order_relaxed);
    test::may_switch_rank();
}

void ThreadMemory::check_writer(std::atomic<std::uint64_t> const& word, int peer) const {
    if (peer == any_peer) return;
    int const writer = world_.writer(word).load(std::memory_order_relaxed) - 1;
    if (writer != peer)
        ADD_FAILURE() << "rank " << rank_ << " waits for rank " << peer << ", but rank " << writer
                      << " stored the word";
}

topo::Locality ThreadMemory::locality(int peer) const {
    return world_.locality ? world_.locality(rank_, peer) : topo::Locality::cache;
}

Copier const& ThreadMemory::copier() const {
    test::may_switch_rank();
    return world_.copier;
}

AccessPath ThreadMemory::access_path(void const* address, std::size_t) const {
    auto const* p = static_cast<std::byte const*>(address);
    auto const [first, bytes] = std::pair(world_.arena.data(), world_.arena.size());
    return p >= first && p < first + bytes ? AccessPath::load_store : world_.way;
}

std::byte* ThreadMemory::reach(int, std::uint64_t address, std::size_t bytes) const {
    auto* p = reinterpret_cast<std::byte*>(address);
    AccessPath const how = access_path(p, bytes);
    bool const attached = how == AccessPath::attach && (address / cache_line + static_cast<unsigned>(rank_)) % 4 != 0;
    return how == AccessPath::load_store || attached ? p : nullptr;
}

bool ThreadMemory::fetch(int peer, std::uint64_t address, void* to, std::size_t bytes) {
    if (!reach(peer, address, bytes))
        return fetch_segments(peer, ContiguousMemory(address, bytes), ContiguousMemory(to, bytes), 0, bytes);
    std::memcpy(to, reinterpret_cast<void const*>(address), bytes);
    return true;
}

bool ThreadMemory::put(int peer, std::uint64_t address, void const* from, std::size_t bytes) {
    if (!reach(peer, address, bytes))
        return put_segments(peer, ContiguousMemory(address, bytes), ContiguousMemory(from, bytes), 0, bytes);
    std::memcpy(reinterpret_cast<void*>(address), from, bytes);
    return true;
}

bool ThreadMemory::fetch_segments(int, TypedMemory const& there, TypedMemory const& here, std::size_t position,
                                  std::size_t bytes) {
    return copy_segments(there, here, position, bytes, true);
}

bool ThreadMemory::put_segments(int, TypedMemory const& there, TypedMemory const& here, std::size_t position,
                                std::size_t bytes) {
    return copy_segments(there, here, position, bytes, false);
}

bool ThreadMemory::copy_segments(TypedMemory const& there, TypedMemory const& here, std::size_t position,
                                 std::size_t bytes, bool fetches) {
    if (!kernel_copies()) return false;
    auto const me = static_cast<std::size_t>(rank_);
    return move_segments(there, here, position, bytes, [&](std::span<iovec> theirs, std::span<iovec> mine) {
        ++world_.kernel_calls[me];
        while (!mine.empty()) {
            std::size_t const n = std::min(theirs.front().iov_len, mine.front().iov_len);
            fetches ? std::memcpy(mine.front().iov_base, theirs.front().iov_base, n)
                    : std::memcpy(theirs.front().iov_base, mine.front().iov_base, n);
            world_.kernel_bytes[me] += n;
            for (std::span<iovec>* list : {&theirs, &mine}) {
                iovec& first = list->front();
                first = {static_cast<std::byte*>(first.iov_base) + n, first.iov_len - n};
                if (first.iov_len == 0) *list = list->subspan(1);
            }
        }
        return true;
    });
}

void ThreadMemory::drive(Task task) {
    auto const& env = static_cast<ThreadEnv const&>(*this);
    auto come = [&] {
        return events_.any ? events_.occurred() : has_reached(word_->load(std::memory_order_acquire), value_);
    };
    for (task.resume(); !task.done(); std::exchange(waiting_, {}).resume()) {
        wait_until([&] { return come() || env.failed(); });
        if (!come()) fail(ErrorClass::no_mem, "rank ", env.failed_rank(), " has no memory left");
    }
    task.check();
}

namespace {

/// Replaces an OperationSequence.
struct ThreadSequence {
    Area const& area;
    int rank;
    void end(std::uint64_t op) { area.done(rank).publish(op); }
    void fail(std::uint64_t op) {
        area.fail(rank, op);
        end(op);
    }
};

}   // namespace

void run_operation(ThreadWorld& world, int rank, std::uint64_t op, FramePool& frames,
                   std::function<Task(ThreadEnv&)> const& start) {
    for (int m = 0; op > channel_depth && m < world.area.members(); ++m)
        wait_until([&, m] { return world.area.done(m).reached(op - channel_depth); });
    world.area.enter(rank, op);
    ThreadSequence sequence{world.area, rank};
    ChannelGuard channel(sequence, op);
    ThreadEnv env(world.area, world.trees, rank, op, world, rank, frames);
    try {
        env.drive(start(env));
    } catch (...) {
        if (is_local_error(std::current_exception())) throw;
        frames.retain();
        channel.fail([](std::atomic<std::uint64_t> const& word, std::uint64_t value, int) {
            wait_until([&] { return has_reached(word.load(std::memory_order_acquire), value); });
        });
        frames.release();
        throw;
    }
}

}   // namespace tutti::coll
