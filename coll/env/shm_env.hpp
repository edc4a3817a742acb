// SPDX-License-Identifier: BSD-3-Clause The environment between processes of one node: flags in the segment; large
// buffers are accessed by load and store, or by CMA where the system allows it. A coroutine that a blocking call runs
// never suspends: it waits in Waiter::wait_until. A coroutine that was given a Suspension never waits: it suspends and
// stores there what it waits for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/env/env.hpp"
#include "runtime/base/error.hpp"
#include "runtime/memory/heap.hpp"
#include "runtime/memory/single_copy.hpp"
#include "runtime/process.hpp"

// Staging memory: where a rank stages data that its peers cannot read in its own memory. Each operation in progress has
// a piece of its own, allocated from the rank's heap in the segment at first use; a few pieces are kept for later
// operations.

namespace tutti::coll {

class StagingPool {
public:
    explicit StagingPool(std::size_t bytes) : bytes_(bytes) { free_.reserve(max_kept); }   // release must not throw

    /// Returns a piece of at least `least` bytes. Throws Error(no_mem) if the heap is exhausted.
    StagingMemory acquire(SegmentHeap& heap, std::size_t least = 0) {
        if (least > bytes_) return {heap.allocate(least), least};
        if (free_.empty()) return {heap.allocate(bytes_), bytes_};
        StagingMemory const s = free_.back();
        free_.pop_back();
        return s;
    }
    void release(SegmentHeap& heap, StagingMemory const& s) {
        if (s.bytes == bytes_ && free_.size() < max_kept) free_.push_back(s);
        else heap.release(s.offset);
    }
    /// Pieces acquired from now on have at least `bytes` bytes.
    void enlarge(SegmentHeap& heap, std::size_t bytes) {
        if (bytes <= bytes_) return;
        bytes_ = bytes;
        for (StagingMemory const& s : free_) heap.release(s.offset);
        free_.clear();
    }

private:
    static constexpr std::size_t max_kept = 8;

    std::size_t bytes_;
    std::vector<StagingMemory> free_;
};

/// What a suspended coroutine waits for.
struct Suspension {
    std::coroutine_handle<> coroutine;
    std::atomic<std::uint64_t> const* word = nullptr;
    std::uint64_t value = 0;
    /// The rank whose action is needed for the value to arrive. It is a rank of `comm`, which need not be the
    /// operation's communicator: for the node-local step of an operation between nodes it numbers the members of that
    /// node.
    int peer = any_peer;
    Comm const* comm = nullptr;
    Events events = {};   ///< awaited instead of the word, if the condition is set

    /// Returns the rank of the peer in MPI_COMM_WORLD, or `any_peer`.
    int world_peer() const { return peer == any_peer ? any_peer : comm->union_group->world_rank(peer); }

    bool is_ready() const {
        return events.any ? events.occurred() : has_reached(word->load(std::memory_order_acquire), value);
    }
};

class ShmMemory {
public:
    /// `localities`: from this rank to each member of the communicator. `suspension`: null for a blocking call.
    /// `frames`: the pool that coroutine frames come from; null: that of the process.
    ShmMemory(Comm const& comm, char const* operation, topo::Locality const* localities,
              Suspension* suspension = nullptr, FramePool* frames = nullptr)
        : comm_(comm), operation_(operation), traffic_(comm.process.rank_state().traffic), localities_(localities),
          suspension_(suspension), frames_(frames ? *frames : comm.process.frames) {}
    ShmMemory(ShmMemory const&) = delete;
    ShmMemory& operator=(ShmMemory const&) = delete;
    // Inlined, because most calls hold nothing.
    [[gnu::always_inline]] ~ShmMemory() { end(); }

    /// Releases what the operation held for itself.
    [[gnu::always_inline]] void end() {
        if (staging_.bytes != 0) release_staging();
        if (held_) [[unlikely]]
            release_held();
    }

    FramePool& frames() { return frames_; }
    bool suspends() const { return suspension_ != nullptr; }
    /// A blocking call waits inside its awaiters: its coroutines run to completion when they are called (Task).
    bool never_suspends() const { return !suspends(); }
    /// The amount of staging memory that an algorithm should not exceed.
    std::size_t staging_bytes() const;
    /// Gives this rank at least `bytes` bytes of staging memory, for elements larger than staging_bytes(). Must be
    /// called before expose.
    void reserve_staging(std::size_t bytes);
    /// The plans that this rank keeps for the communicator's calls.
    Plans& plans() const;

    bool times_phases() const;

    int world_rank(int peer) const { return comm_.union_group->world_rank(peer); }
    /// Like Comm::reported_rank.
    int reported_rank(int peer) const { return comm_.reported_rank(peer); }

protected:
    bool oversubscribed() const { return comm_.process.segment.header().oversubscribed(); }
    struct Awaiter {
        ShmMemory& memory;
        std::atomic<std::uint64_t> const& word;
        std::uint64_t value;
        int peer;
        [[gnu::always_inline]] bool await_ready() const {
            return has_reached(word.load(std::memory_order_acquire), value) ||
                   memory.wait_unless_suspending(word, value, peer);
        }
        void await_suspend(std::coroutine_handle<> h) const noexcept {
            *memory.suspension_ = {h, &word, value, peer, &memory.comm_};
        }
        void await_resume() const noexcept {}
    };
    Awaiter until(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer) {
        return {*this, word, value, peer};
    }
    // Why no event is missed: each event is the release store of a word of the segment, followed by wake_waiters(word).
    // A rank that sleeps without naming a word sleeps for anything, which such a store ends
    // (runtime/wait/sleepers.hpp); the condition is checked after the rank has announced its sleep. A suspended
    // operation is checked by each poll of the progress engine, and a rank with operations in progress sleeps for
    // anything.
    struct AnyAwaiter {
        ShmMemory& memory;
        Events events;
        int peer;
        bool await_ready() const { return events.occurred() || memory.wait_unless_suspending(events, peer); }
        void await_suspend(std::coroutine_handle<> h) const noexcept {
            *memory.suspension_ = {h, nullptr, 0, peer, &memory.comm_, events};
        }
        void await_resume() const noexcept {}
    };
    AnyAwaiter until_any(Events const& events, int peer) { return {*this, events, peer}; }
    /// Suspends once, on a condition that already holds.
    struct DeferToWaiter {
        ShmMemory& memory;
        bool await_ready() const { return !memory.suspension_; }
        void await_suspend(std::coroutine_handle<> h) const noexcept {
            static constexpr std::atomic<std::uint64_t> ready{0};
            *memory.suspension_ = {h, &ready, 0};
        }
        void await_resume() const noexcept {}
    };
    DeferToWaiter defer() { return {*this}; }
    void wake_waiters(std::atomic<std::uint64_t> const& word) { comm_.process.waiter.wake_sleepers(word); }

    /// Offset of the operation's own staging memory, which it takes at first use and releases at its end.
    std::uint64_t staging_offset() {
        if (staging_.bytes == 0) acquire_staging();
        return staging_.offset;
    }
    std::byte* staging() { return staging_at(staging_offset()); }
    std::byte* staging_at(std::uint64_t offset) { return comm_.process.segment.at(offset); }
    StagingMemory more_staging(std::size_t bytes);
    void count_staged(std::size_t bytes) { comm_.process.rank_state().counters.staged.add(bytes); }
    Traffic& traffic() { return traffic_; }
    topo::Locality locality(int peer) const { return localities_[peer]; }
    Copier const& copier() const { return comm_.process.copier; }
    AccessPath access_path(void const* address, std::size_t bytes) const {
        return comm_.process.single_copy.access_path(address, bytes);
    }
    AccessPath kernel_path() const { return comm_.process.single_copy.kernel_path(); }
    bool can_load_peers() const { return comm_.process.single_copy.can_load_peers(); }
    bool may_attach() const { return comm_.process.single_copy.may_attach(); }
    std::uint64_t& loading_agreed(Area const& area) const { return area.loading_agreed(); }
    std::byte* reach(int peer, std::uint64_t address, std::size_t bytes) {
        return comm_.process.single_copy.local_address(local_rank(peer), address, bytes, own_attachments());
    }
    // Memory that the kernel cannot copy (device memory or an invalid address) is refused as well. Its owner then
    // copies it into its staging memory, or detects that it cannot, and no peer waits for an answer.
    bool fetch(int peer, std::uint64_t address, void* to, std::size_t bytes) {
        try {
            return comm_.process.single_copy.read(local_rank(peer), address, to, bytes);
        } catch (Error const&) { return false; }
    }
    bool put(int peer, std::uint64_t address, void const* from, std::size_t bytes) {
        try {
            return comm_.process.single_copy.write(local_rank(peer), address, from, bytes);
        } catch (Error const&) { return false; }
    }
    bool fetch_segments(int peer, TypedMemory const& there, TypedMemory const& here, std::size_t position,
                        std::size_t bytes);
    bool put_segments(int peer, TypedMemory const& there, TypedMemory const& here, std::size_t position,
                      std::size_t bytes);

private:
    unsigned local_rank(int peer) const {
        return static_cast<unsigned>(comm_.process.cluster.local_rank_of(comm_.union_group->world_rank(peer)));
    }
    /// Waits and returns true, unless the operation suspends: then returns false. Throws if a member has failed, so
    /// that the value will not arrive.
    bool wait_unless_suspending(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer) const;
    bool wait_unless_suspending(Events const& events, int peer) const;
    struct FlagWait;
    static void describe_flag_wait(void const* wait, BlockedCall& blocked);
    void acquire_staging();
    void release_staging();

    /// What few operations hold.
    struct Held {
        std::vector<StagingMemory> more_stagings;
        OwnAttachments attachments;   ///< of the operation, if there is no registration cache
    };
    Held& held();
    void release_held();
    OwnAttachments* own_attachments() {
        return comm_.process.variables.registration_cache ? nullptr : &held().attachments;
    }

    Comm const& comm_;
    char const* operation_;
    Traffic& traffic_;
    topo::Locality const* localities_;
    Suspension* const suspension_;
    FramePool& frames_;
    StagingMemory staging_;
    Held* held_ = nullptr;   ///< owned; null: nothing
};

using ShmEnv = Environment<ShmMemory>;

/// Throws no_mem, naming the member of `comm` that failed. `comm` may be a node communicator, which the program does
/// not know, so the rank is named as in MPI_COMM_WORLD.
[[noreturn]] void throw_failure_of(Comm const& comm, int member);

}   // namespace tutti::coll
