// SPDX-License-Identifier: BSD-3-Clause
// The environment of the tests: ranks are those of ranks.hpp, flags and slots lie in ordinary memory, large buffers are
// read directly or, to test the other step of the single copy, staged. Every wait that is not over at once suspends the
// coroutine, as nonblocking operations will, and the rank resumes it. Under ThreadSanitizer every access that the flags
// do not order is a finding. The functions are defined in thread_env.cpp, for a hundred algorithms call them.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "coll/env/env.hpp"
#include "coll/env/operation_sequence.hpp"
#include "coll/env/shm_env.hpp"

namespace tutti::coll {

/// The memory that the ranks of one test share.
struct ThreadWorld {
    ThreadWorld(int ranks, topo::Hierarchy tree, AccessPath allowed = AccessPath::load_store,
                std::size_t staging = 1 << 16);

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
    /// Called for each flag that a rank waits for, with that rank and the flag's owner.
    std::function<void(int, int)> asks;

    /// The rank that stored the word last; -1: no rank has. The deadlock diagnosis relies on it: while a rank waits for
    /// a word, it shows the peer that it names there as the one whose act is needed.
    std::atomic<int>& writer(std::atomic<std::uint64_t> const& word);

private:
    std::unique_ptr<std::atomic<int>[]> writers_;   ///< one for each word of `memory`
};

class ThreadMemory {
public:
    ThreadMemory(ThreadWorld& world, int rank, FramePool& frames) : world_(world), rank_(rank), frames_(frames) {}

    FramePool& frames() { return frames_; }
    bool suspends() const { return world_.suspends; }
    int reported_rank(int peer) const { return peer; }
    int world_rank(int peer) const { return peer; }
    std::size_t staging_bytes() const { return world_.staging_bytes; }
    void reserve_staging(std::size_t bytes);

    /// Drives a task to its end: resumes it when the flag that it waits for has come. Throws if the peer has failed.
    void drive(Task task);

protected:
    bool crowded() const { return world_.stagings.size() > 4; }   // so that tests meet both
    struct Awaiter {
        ThreadMemory& memory;
        std::atomic<std::uint64_t> const& word;
        std::uint64_t value;
        int peer;
        bool await_ready() const { return has_come(word.load(std::memory_order_acquire), value); }
        void await_suspend(std::coroutine_handle<> h) const noexcept {
            memory.waiting_ = h;
            memory.word_ = &word;
            memory.value_ = value;
        }
        void await_resume() const { memory.check_writer(word, peer); }
    };
    Awaiter until(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer);
    void stored(std::atomic<std::uint64_t> const& word);
    /// Fails the test unless `peer` stored the word last. Some waits name no peer (`anybody`).
    void check_writer(std::atomic<std::uint64_t> const& word, int peer) const;
    std::suspend_never later() { return {}; }

    std::uint64_t staging_offset() const {
        return reinterpret_cast<std::uint64_t>(world_.stagings[static_cast<std::size_t>(rank_)].data());
    }
    std::byte* staging() { return staging_at(staging_offset()); }
    std::byte* staging_at(std::uint64_t offset) { return reinterpret_cast<std::byte*>(offset); }
    void count_staged(std::size_t) {}
    Traffic& traffic() { return world_.traffic[static_cast<std::size_t>(rank_)]; }
    topo::Locality locality(int peer) const;
    Copier const& copier() const { return world_.copier; }
    AccessPath way(void const* address, std::size_t) const;
    /// Attaching succeeds with some ranks and addresses only.
    std::byte* reach(int, std::uint64_t address, std::size_t bytes) const;
    /// With AccessPath::cma allowed, every third copy is refused, as if the system had changed its mind in mid-run.
    bool allowed(int peer, std::uint64_t address, std::size_t bytes);
    bool fetch(int peer, std::uint64_t address, void* to, std::size_t bytes);
    bool put(int peer, std::uint64_t address, void const* from, std::size_t bytes);

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
extern template class Environment<ThreadMemory>;

/// Runs one operation as `rank`: waits for its channel, drives the algorithm `start(env)`, publishes that it is done.
void run_operation(ThreadWorld& world, int rank, std::uint64_t op, FramePool& frames,
                   std::function<Task(ThreadEnv&)> const& start);
template <class Args>
void run(ThreadWorld& world, int rank, std::uint64_t op, FramePool& frames, Task (*algorithm)(ThreadEnv&, Args const&),
         Args const& args) {
    auto const call = [&](ThreadEnv& env) { return algorithm(env, args); };
    run_operation(world, rank, op, frames, std::ref(call));   // a reference: nothing is allocated
}

}   // namespace tutti::coll
