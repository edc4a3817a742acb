// SPDX-License-Identifier: BSD-3-Clause
// The environment of the tests: ranks are threads of one process, flags and slots lie in ordinary memory, large
// buffers are read directly or, to test the other step of the single copy, staged. Every wait that is not over at once
// suspends the coroutine, as nonblocking operations will, and the rank's own loop resumes it. Under ThreadSanitizer
// every access that the flags do not order is a finding.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "coll/env/env.hpp"
#include "coll/env/operation_sequence.hpp"
#include "coll/env/shm_env.hpp"

namespace tutti::coll {

/// The memory that the ranks of one test share.
struct ThreadWorld {
    ThreadWorld(int ranks, topo::Hierarchy tree, AccessPath allowed = AccessPath::load_store,
                std::size_t staging = 1 << 16)
        : trees(std::move(tree)), way(allowed), staging_bytes(staging),
          memory(static_cast<std::byte*>(std::aligned_alloc(cache_line, bytes(ranks))), std::free),
          area(memory.get(), ranks), stagings(static_cast<std::size_t>(ranks)), traffic(stagings.size()) {
        std::memset(memory.get(), 0, bytes(ranks));
        area.have_regions(memory.get() + Area::bytes(ranks));
        for (auto& s : stagings) s.resize(staging);
    }

    static std::size_t bytes(int ranks) { return Area::bytes(ranks) + Area::bytes_of_regions(ranks); }

    Trees trees;
    AccessPath way;                     ///< to what lies outside `arena`
    std::span<std::byte const> arena;   ///< what lies in here is reached directly
    Copier copier;
    std::size_t staging_bytes;
    std::unique_ptr<std::byte, void (*)(void*)> memory;
    Area area;
    std::vector<std::vector<std::byte>> stagings;
    std::vector<Traffic> traffic;
    /// Do operations go as those of nonblocking calls?
    bool suspends = false;
    /// What lies between two ranks; without: everything is in one cache.
    std::function<topo::Locality(int, int)> locality;
    /// Told of every flag that a rank asks for, and whose it is.
    std::function<void(int, int)> asks;
};

class ThreadMemory {
public:
    ThreadMemory(ThreadWorld& world, int rank, FramePool& frames) : world_(world), rank_(rank), frames_(frames) {}

    FramePool& frames() { return frames_; }
    bool suspends() const { return world_.suspends; }
    std::size_t staging_bytes() const { return world_.staging_bytes; }
    void reserve_staging(std::size_t bytes) {
        auto& mine = world_.stagings[static_cast<std::size_t>(rank_)];
        if (mine.size() < bytes) mine.resize(bytes);
    }

    /// Drives a task to its end: resumes whoever waits once its flag has come. Throws if it waits in vain.
    void drive(Task task);

protected:
    bool crowded() const { return world_.stagings.size() > 4; }   // so that tests meet both
    struct Awaiter {
        ThreadMemory& memory;
        std::atomic<std::uint64_t> const& word;
        std::uint64_t value;
        bool await_ready() const { return has_come(word.load(std::memory_order_acquire), value); }
        void await_suspend(std::coroutine_handle<> h) const noexcept {
            memory.waiting_ = h;
            memory.word_ = &word;
            memory.value_ = value;
        }
        void await_resume() const noexcept {}
    };
    Awaiter until(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer) {
        if (world_.asks) world_.asks(rank_, peer);
        return {*this, word, value};
    }
    void stored(std::atomic<std::uint64_t> const&) {}
    std::suspend_never later() { return {}; }

    std::uint64_t staging_offset() const {
        return reinterpret_cast<std::uint64_t>(world_.stagings[static_cast<std::size_t>(rank_)].data());
    }
    std::byte* staging() { return staging_at(staging_offset()); }
    std::byte* staging_at(std::uint64_t offset) { return reinterpret_cast<std::byte*>(offset); }
    void count_staged(std::size_t) {}
    Traffic& traffic() { return world_.traffic[static_cast<std::size_t>(rank_)]; }
    topo::Locality locality(int peer) const {
        return world_.locality ? world_.locality(rank_, peer) : topo::Locality::cache;
    }
    Copier const& copier() const { return world_.copier; }
    AccessPath way(void const* address, std::size_t) const {
        auto const* p = static_cast<std::byte const*>(address);
        auto const [first, bytes] = std::pair(world_.arena.data(), world_.arena.size());
        return p >= first && p < first + bytes ? AccessPath::load_store : world_.way;
    }
    /// Attaching succeeds with some ranks and addresses only.
    std::byte* reach(int, std::uint64_t address, std::size_t bytes) const {
        auto* p = reinterpret_cast<std::byte*>(address);
        AccessPath const how = way(p, bytes);
        bool const attached =
            how == AccessPath::attach && (address / cache_line + static_cast<unsigned>(rank_)) % 4 != 0;
        return how == AccessPath::load_store || attached ? p : nullptr;
    }
    /// With AccessPath::cma allowed, every third copy is refused, as if the system had changed its mind in mid-run.
    bool allowed(int peer, std::uint64_t address, std::size_t bytes) {
        return reach(peer, address, bytes) || (world_.way == AccessPath::cma && ++fetches_ % 3 != 0);
    }
    bool fetch(int peer, std::uint64_t address, void* to, std::size_t bytes) {
        if (!allowed(peer, address, bytes)) return false;
        std::memcpy(to, reinterpret_cast<void const*>(address), bytes);
        return true;
    }
    bool put(int peer, std::uint64_t address, void const* from, std::size_t bytes) {
        if (!allowed(peer, address, bytes)) return false;
        std::memcpy(reinterpret_cast<void*>(address), from, bytes);
        return true;
    }

private:
    ThreadWorld& world_;
    int rank_;
    FramePool& frames_;
    std::coroutine_handle<> waiting_;
    std::atomic<std::uint64_t> const* word_ = nullptr;
    std::uint64_t value_ = 0;
    unsigned fetches_ = 0;
};

using ThreadEnv = Environment<ThreadMemory>;

inline void ThreadMemory::drive(Task task) {
    auto const& env = static_cast<ThreadEnv const&>(*this);
    auto come = [&] { return has_come(word_->load(std::memory_order_acquire), value_); };
    for (task.resume(); !task.done(); std::exchange(waiting_, {}).resume()) {
        while (!come() && !env.failed()) std::this_thread::yield();
        if (!come()) throw_failure_of(env.failed_member());
    }
    task.check();
}

/// What a thread has in the place of a OperationSequence.
struct ThreadSequence {
    Area const& area;
    int rank;
    void end(std::uint64_t op) { area.done(rank).publish(op); }
    void fail(std::uint64_t op) {
        area.fail(rank, op);
        end(op);
    }
};

/// Runs one operation as `rank`: waits for its channel, drives the algorithm, says that it is done.
template <class Args>
void run(ThreadWorld& world, int rank, std::uint64_t op, FramePool& frames, Task (*algorithm)(ThreadEnv&, Args const&),
         Args const& args) {
    for (int m = 0; op > channel_depth && m < world.area.members(); ++m)
        while (!world.area.done(m).reached(op - channel_depth)) std::this_thread::yield();
    world.area.enter(rank, op);
    ThreadSequence sequence{world.area, rank};
    ChannelGuard channel(sequence, op);
    ThreadEnv env(world.area, world.trees, rank, op, world, rank, frames);
    try {
        env.drive(algorithm(env, args));
    } catch (...) {
        if (concerns_this_rank_alone(std::current_exception())) throw;
        frames.hold();
        channel.fail([](std::atomic<std::uint64_t> const& word, std::uint64_t value, int) {
            while (!has_come(word.load(std::memory_order_acquire), value)) std::this_thread::yield();
        });
        frames.let_go();
        throw;
    }
}

}   // namespace tutti::coll
