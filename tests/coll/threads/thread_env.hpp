// SPDX-License-Identifier: BSD-3-Clause
// The environment of the tests: ranks are fibers (ranks.hpp), flags and slots are in ordinary memory, and large buffers
// are read directly or, to test the last single-copy method, staged. Every wait that is not over immediately suspends
// the coroutine, and the rank resumes it. ThreadSanitizer reports every access that the flags do not order. The
// functions are defined in thread_env.cpp because a hundred algorithms call them.
#pragma once

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "coll/env/env.hpp"
#include "coll/env/operation_sequence.hpp"
#include "coll/env/shm_env.hpp"

namespace tutti::coll {

/// The memory shared by the ranks of one test.
struct ThreadWorld {
    ThreadWorld(int ranks, topo::Hierarchy tree, AccessPath allowed = AccessPath::load_store,
                std::size_t staging = 1 << 16);

    static std::size_t bytes(int ranks) { return Area::bytes(ranks) + Area::bytes_of_regions(ranks); }

    Trees trees;
    AccessPath way;                     ///< to memory outside `arena`
    std::span<std::byte const> arena;   ///< memory that is accessed directly
    Copier copier;
    std::size_t staging_bytes;
    std::unique_ptr<std::byte, void (*)(void*)> memory;
    Area area;
    std::vector<std::vector<std::byte>> stagings;
    std::vector<std::size_t> more_staging;   ///< bytes that each rank has taken in addition, in all its operations
    std::vector<Traffic> traffic;
    std::vector<std::uint64_t> staged;           ///< bytes that each rank has staged for others
    std::vector<std::uint64_t> kernel_bytes;     ///< bytes that the system has copied for each rank
    std::vector<std::uint64_t> kernel_calls;     ///< calls that copied them
    std::vector<std::uint64_t> loading_agreed;   ///< Environment::loading_agreed of each rank
    std::vector<Plans> plans;                    ///< of each rank
    std::vector<int> refused_for;                ///< Environment::refused_for of each rank in its last operation
    /// Do operations suspend as nonblocking ones do?
    bool suspends = false;
    bool times_phases = false;
    /// The locality of two ranks; null: all ranks share one cache.
    std::function<topo::Locality(int, int)> locality;
    /// Called for each flag that a rank waits for, with that rank and the owner of the flag.
    std::function<void(int, int)> on_wait;

    /// The rank that stored the word last, plus one; 0: none. The deadlock diagnosis relies on it: a rank that waits
    /// for a word publishes the peer that its wait names as the one that must act.
    std::atomic_ref<int> writer(std::atomic<std::uint64_t> const& word);

private:
    std::unique_ptr<int[], decltype(&std::free)> writers_;   ///< of each word of `memory`
};

class ThreadMemory {
public:
    ThreadMemory(ThreadWorld& world, int rank, FramePool& frames) : world_(world), rank_(rank), frames_(frames) {}

    FramePool& frames() { return frames_; }
    bool suspends() const { return world_.suspends; }
    bool times_phases() const { return world_.times_phases; }
    int reported_rank(int peer) const { return peer; }
    int world_rank(int peer) const { return peer; }
    std::size_t staging_bytes() const { return world_.staging_bytes; }
    void reserve_staging(std::size_t bytes);
    Plans& plans() const { return world_.plans[static_cast<std::size_t>(rank_)]; }

    /// Drives a task to its end: resumes it when the flag that it waits for is set. Throws if the peer has failed.
    void drive(Task task);

protected:
    bool oversubscribed() const { return world_.stagings.size() > 4; }   // so that the tests cover both values
    struct Awaiter {
        ThreadMemory& memory;
        std::atomic<std::uint64_t> const& word;
        std::uint64_t value;
        int peer;
        bool await_ready() const { return has_reached(word.load(std::memory_order_acquire), value); }
        void await_suspend(std::coroutine_handle<> h) const noexcept {
            memory.waiting_ = h;
            memory.word_ = &word;
            memory.value_ = value;
        }
        void await_resume() const { memory.check_writer(word, peer); }
    };
    struct AnyAwaiter {
        ThreadMemory& memory;
        Events events;
        bool await_ready() const { return events.occurred(); }
        void await_suspend(std::coroutine_handle<> h) const noexcept {
            memory.waiting_ = h;
            memory.events_ = events;
        }
        void await_resume() const { memory.events_ = {}; }
    };
    AnyAwaiter until_any(Events const& events, int peer);
    Awaiter until(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer);
    void wake_waiters(std::atomic<std::uint64_t> const& word);
    /// Fails the test unless `peer` stored the word last. Some waits name no peer (`any_peer`).
    void check_writer(std::atomic<std::uint64_t> const& word, int peer) const;
    std::suspend_never defer() { return {}; }

    std::uint64_t staging_offset() const {
        return reinterpret_cast<std::uint64_t>(world_.stagings[static_cast<std::size_t>(rank_)].data());
    }
    std::byte* staging() { return staging_at(staging_offset()); }
    std::byte* staging_at(std::uint64_t offset) { return reinterpret_cast<std::byte*>(offset); }
    void count_staged(std::size_t bytes) { world_.staged[static_cast<std::size_t>(rank_)] += bytes; }
    StagingMemory more_staging(std::size_t bytes);
    Traffic& traffic() { return world_.traffic[static_cast<std::size_t>(rank_)]; }
    topo::Locality locality(int peer) const;
    /// Called before each copy. Other ranks may run first, also between two pieces of shared work.
    Copier const& copier() const;
    AccessPath access_path(void const* address, std::size_t) const;
    AccessPath kernel_path() const { return kernel_may_copy() ? AccessPath::cma : AccessPath::staged; }
    /// Attaching succeeds for some ranks and addresses only.
    std::byte* reach(int, std::uint64_t address, std::size_t bytes) const;
    bool can_load_peers() const { return true; }
    bool may_attach() const { return world_.way == AccessPath::attach; }
    std::uint64_t& loading_agreed(Area const&) { return world_.loading_agreed[static_cast<std::size_t>(rank_)]; }
    bool kernel_may_copy() const { return world_.way == AccessPath::load_store || world_.way == AccessPath::cma; }
    /// With AccessPath::cma, the system refuses every third copy, as if it revoked the permission during the run.
    bool kernel_copies() { return kernel_may_copy() && (world_.way != AccessPath::cma || ++fetches_ % 3 != 0); }
    bool fetch(int peer, std::uint64_t address, void* to, std::size_t bytes);
    bool put(int peer, std::uint64_t address, void const* from, std::size_t bytes);
    bool fetch_segments(int, TypedMemory const& there, TypedMemory const& here, std::size_t position,
                        std::size_t bytes);
    bool put_segments(int, TypedMemory const& there, TypedMemory const& here, std::size_t position, std::size_t bytes);

private:
    /// Copies as the system does, from segments to segments.
    bool copy_segments(TypedMemory const& there, TypedMemory const& here, std::size_t position, std::size_t bytes,
                       bool fetches);

    ThreadWorld& world_;
    int rank_;
    FramePool& frames_;
    std::coroutine_handle<> waiting_;
    std::atomic<std::uint64_t> const* word_ = nullptr;
    std::uint64_t value_ = 0;
    Events events_;   ///< awaited instead of the word, if the condition is set
    unsigned fetches_ = 0;
    std::vector<std::unique_ptr<std::byte[]>> more_stagings_;
};

using ThreadEnv = Environment<ThreadMemory>;
extern template class Environment<ThreadMemory>;

/// Runs one operation as `rank`: waits for its channel, drives the algorithm `start(env)`, publishes its completion.
void run_operation(ThreadWorld& world, int rank, std::uint64_t op, FramePool& frames,
                   std::function<Task(ThreadEnv&)> const& start);
template <class Args>
void run(ThreadWorld& world, int rank, std::uint64_t op, FramePool& frames, Task (*algorithm)(ThreadEnv&, Args const&),
         Args const& args) {
    auto const call = [&](ThreadEnv& env) { return algorithm(env, args); };
    run_operation(world, rank, op, frames, std::ref(call));   // a reference, which allocates nothing
}

}   // namespace tutti::coll
