// SPDX-License-Identifier: BSD-3-Clause
// The environment between processes of one node: flags in the segment, large buffers by load and store, or by CMA where
// the system allows it. A coroutine that a blocking call runs here never suspends, it waits through the one wait; one
// that was given a Suspension never waits, it suspends and leaves there what has to come.
#pragma once

#include <atomic>

#include "coll/env/env.hpp"
#include "coll/env/staging.hpp"
#include "runtime/base/error.hpp"
#include "runtime/memory/single_copy.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {

/// What a suspended coroutine waits for.
struct Suspension {
    std::coroutine_handle<> coroutine;
    std::atomic<std::uint64_t> const* word = nullptr;
    std::uint64_t value = 0;
    /// The rank without an act of which the value does not come. It is a rank of `comm`, which need not be the
    /// operation's communicator: a step on one node of an operation between nodes counts the members of that node.
    int peer = anybody;
    Comm const* comm = nullptr;

    /// The same rank in MPI_COMM_WORLD, or `anybody`.
    int world_peer() const { return peer == anybody ? anybody : comm->union_group->world_rank(peer); }

    bool over() const { return has_come(word->load(std::memory_order_acquire), value); }
};

class ShmMemory {
public:
    /// `localities`: from this rank to each member of the communicator. `suspension`: null for a blocking call.
    /// `frames`: where coroutines get their memory, null: from the process.
    ShmMemory(Comm const& comm, char const* operation, topo::Locality const* localities,
              Suspension* suspension = nullptr, FramePool* frames = nullptr)
        : comm_(comm), operation_(operation), traffic_(comm.process.rank_state().traffic), localities_(localities),
          suspension_(suspension), frames_(frames ? *frames : comm.process.frames) {}
    ShmMemory(ShmMemory const&) = delete;
    ShmMemory& operator=(ShmMemory const&) = delete;
    ~ShmMemory() { end(); }

    /// What the operation had for itself goes back.
    void end() {
        if (staging_.bytes != 0) give_staging_back();
    }

    FramePool& frames() { return frames_; }
    bool suspends() const { return suspension_ != nullptr; }
    /// A blocking call waits inside its awaiters: its coroutines run to their ends when they are called (Task).
    bool never_suspends() const { return !suspends(); }
    /// How much staging memory an algorithm should be content with.
    std::size_t staging_bytes() const;
    /// For elements larger than that; before expose.
    void reserve_staging(std::size_t bytes);

    int world_rank(int peer) const { return comm_.union_group->world_rank(peer); }
    /// As Comm::reported_rank.
    int reported_rank(int peer) const { return comm_.reported_rank(peer); }

protected:
    bool crowded() const { return comm_.process.segment.header().crowded(); }
    struct Awaiter {
        ShmMemory& memory;
        std::atomic<std::uint64_t> const& word;
        std::uint64_t value;
        int peer;
        [[gnu::always_inline]] bool await_ready() const {
            return has_come(word.load(std::memory_order_acquire), value) || memory.waited(word, value, peer);
        }
        void await_suspend(std::coroutine_handle<> h) const noexcept {
            *memory.suspension_ = {h, &word, value, peer, &memory.comm_};
        }
        void await_resume() const noexcept {}
    };
    Awaiter until(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer) {
        return {*this, word, value, peer};
    }
    /// Suspends once, for what has come already.
    struct Later {
        ShmMemory& memory;
        bool await_ready() const { return !memory.suspension_; }
        void await_suspend(std::coroutine_handle<> h) const noexcept {
            static constexpr std::atomic<std::uint64_t> come{0};
            *memory.suspension_ = {h, &come, 0};
        }
        void await_resume() const noexcept {}
    };
    Later later() { return {*this}; }
    void stored(std::atomic<std::uint64_t> const& word) { comm_.process.waiter.wake_sleepers(word); }

    /// Of the operation's own staging memory, which it takes at the first use and gives back at its end.
    std::uint64_t staging_offset() {
        if (staging_.bytes == 0) take_staging();
        return staging_.offset;
    }
    std::byte* staging() { return staging_at(staging_offset()); }
    std::byte* staging_at(std::uint64_t offset) { return comm_.process.segment.at(offset); }
    void count_staged(std::size_t bytes) { comm_.process.rank_state().counters.staged.add(bytes); }
    Traffic& traffic() { return traffic_; }
    topo::Locality locality(int peer) const { return localities_[peer]; }
    Copier const& copier() const { return comm_.process.copier; }
    AccessPath way(void const* address, std::size_t bytes) const {
        return comm_.process.single_copy.way(address, bytes);
    }
    std::byte* reach(int peer, std::uint64_t address, std::size_t bytes) {
        return comm_.process.single_copy.reach(place(peer), address, bytes);
    }
    // Memory that the kernel does not copy (a device's, or none at all) is refused, too: its owner then copies it into
    // its staging memory, or finds out that it cannot, and no peer waits for an answer.
    bool fetch(int peer, std::uint64_t address, void* to, std::size_t bytes) {
        try {
            return comm_.process.single_copy.read(place(peer), address, to, bytes);
        } catch (Error const&) { return false; }
    }
    bool put(int peer, std::uint64_t address, void const* from, std::size_t bytes) {
        try {
            return comm_.process.single_copy.write(place(peer), address, from, bytes);
        } catch (Error const&) { return false; }
    }

private:
    unsigned place(int peer) const {
        return static_cast<unsigned>(comm_.process.cluster.place_of(comm_.union_group->world_rank(peer)));
    }
    /// Waits, unless the operation suspends: then it is false. Throws when it waits in vain: a member has failed.
    bool waited(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer) const;
    void take_staging();
    void give_staging_back();

    Comm const& comm_;
    char const* operation_;
    Traffic& traffic_;
    topo::Locality const* localities_;
    Suspension* const suspension_;
    FramePool& frames_;
    StagingMemory staging_;
};

using ShmEnv = Environment<ShmMemory>;

/// Throws no_mem, naming the member of `comm` that cannot go on. The communicator may be one of a node, of which the
/// program knows nothing, so the rank is named as in MPI_COMM_WORLD.
[[noreturn]] void throw_failure_of(Comm const& comm, int member);

}   // namespace tutti::coll
