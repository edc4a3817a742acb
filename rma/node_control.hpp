// SPDX-License-Identifier: BSD-3-Clause
// Control words by which the members of a window on one node synchronize, and the locks built on them. Each member has
// a Control in the node's segment, which it allocates from its own heap so that the memory is local to its core.
//
// Zero is the initial state of every word. All waits use the one wait of runtime/wait/; a rank that stores a word that
// others may wait for wakes them. The arguments are where the words are used: locks below, stripes and atomic
// instructions in accumulate.hpp, posts and completes in active_target.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/flag.hpp"

namespace tutti::rma {

using Word = std::atomic<std::uint64_t>;

/// A word with a cache line of its own.
struct alignas(cache_line) LineWord {
    Word word;
};

/// Control words of one member. Followed by one EpochCounters for each member of the node.
struct Control {
    static constexpr std::size_t stripes = 64;

    LineWord lock;              ///< of this member's part of the window: exclusive holder, or number of shared holders
    LineWord lock_all;          ///< this member holds the lock of all parts, or waits for it (see below)
    LineWord remote_lock_all;   ///< of the node's first member: ranks of other nodes that hold or wait for all parts
    LineWord exclusive_count;   ///< of the node's first member: number of exclusive locks held on the node
    LineWord stripe[stripes];   ///< of this member's part: holders of the stripes (accumulate.hpp)
    LineWord atomic_access;   ///< part in which this member combines by atomic instructions: member index + 1; 0: none
    /// Whether integers in this member's part are combined under stripes: no, yes, or `begun` + index of the member
    /// that changes it.
    LineWord atomics_disabled;
    enum : std::uint64_t { no, yes, begun };

    /// Identifies this member's process, for members that wait for it for a long time. Written before any other member
    /// reads it.
    struct alignas(cache_line) {
        std::uint64_t process;         ///< ProcessIdentity::word; 0: unknown
        std::uint64_t pid_namespace;   ///< in which `process` is valid
        std::int64_t world_rank;
    };

    /// Epoch counters of one member towards another. Only that member writes them; they never decrease.
    struct alignas(cache_line) EpochCounters {
        Word posted;      ///< number of exposure epochs opened for the other member
        Word completed;   ///< number of access epochs closed towards the other member
    };
    /// Counters written by the member with this index on the node.
    EpochCounters& counters_from(std::size_t member) { return reinterpret_cast<EpochCounters*>(this + 1)[member]; }

    static std::size_t bytes(std::size_t members) { return sizeof(Control) + members * sizeof(EpochCounters); }
};

/// The window's members on one node, as seen by one of them.
struct NodeMembers {
    std::vector<Control*> controls;   ///< by index among the members
    Control* own_control = nullptr;   ///< of this process
    std::size_t own_index = 0;        ///< index of this process among them
    bool has_remote_fences = false;   ///< all are registered for fences by other processes (runtime/base/flag.hpp)

    /// Called after a long wait for an action that takes that member microseconds. Throws Error if the member's process
    /// has ended.
    void check_alive(std::size_t member) const;
};

// Locks of a window's parts among the ranks of a node (MPI 3.1, 11.5.3). No function here waits: a rank that is refused
// tries again.
//
// A part has one word: the upper half is the exclusive holder's world rank + 1, the lower half the number of shared
// holders. Acquiring is a compare-and-swap from 0 (exclusive), or from any value without an exclusive holder (shared).
//
// lock_all is one store to a word of the locker, independent of the number of members, because many ranks lock all
// parts and few lock one exclusively. The word counts the lockers that hold all parts in its lower half and those that
// wait in its upper half. (A) The locker counts itself as waiting. If it reads `exclusive_count` as 0, it counts itself
// as holding instead and reads `exclusive_count` again: if that is 0, it has the lock; otherwise it counts itself as
// waiting again and retries later. (B) An exclusive locker increments `exclusive_count`, then reads the words; if any
// has a holder, it decrements `exclusive_count` and retries. Store and load are sequentially consistent on both sides,
// so of two concurrent lockers at least one sees the other: both never hold the lock. Both may step back; each retries
// when it reads the other's count as 0.
//
// A locker that waits in (A) holds no lock: a window on several nodes has one word for each node (remote_lock_all, in
// which the first member of a node counts the lockers of other nodes), and a locker that is refused on one node waits
// on all of them (passive_target.cpp). (A) is therefore in no cycle: the holders that it waits for never wait for it,
// only for later events.
//
// An exclusive locker also steps back for ranks that wait for all parts; otherwise a stream of exclusive locks could
// starve them. But they may wait for a lock whose holder waits for this locker, by a message or by another lock. The
// locker therefore steps back for at most one millisecond, and not at all if it holds another exclusive lock on the
// node. The lock words themselves name the holder of a lock, so a target does not depend on the state that an origin
// assumes: the origin's other lock may be requested and not yet held, or be released meanwhile.
//
// Shared holders of single parts and of all parts do not exclude each other and do not read each other's words.

inline constexpr std::uint64_t one_exclusive = 1ULL << 32;   ///< weight of the exclusive holder's number in a lock word

/// Returns the world rank that holds the part exclusively, or -1 if there is none.
inline int exclusive_holder(Word const& lock) {
    return static_cast<int>(lock.load(std::memory_order_relaxed) / one_exclusive) - 1;
}

/// Returns true, with one more shared holder, if no rank holds the part exclusively.
inline bool try_shared(Word& lock) {
    std::uint64_t held = lock.load(std::memory_order_relaxed);
    while (held < one_exclusive)
        if (lock.compare_exchange_weak(held, held + 1, std::memory_order_acquire, std::memory_order_relaxed))
            return true;
    return false;
}
/// The caller must then wake the ranks that wait for `lock`.
inline void release_shared(Word& lock) { lock.fetch_sub(1, std::memory_order_release); }

inline constexpr std::uint64_t one_waiting = 1ULL << 32;   ///< weight of one waiting locker in a word for all parts
/// Time for which an exclusive locker steps back for ranks that wait for all parts.
inline constexpr std::int64_t step_back_ns = 1'000'000;

/// Returns true if a locker that `all` counts holds all parts.
inline bool all_locked(Word const& all, std::memory_order order = std::memory_order_relaxed) {
    return all.load(order) % one_waiting != 0;
}

/// The ranks that may lock all parts of the node: the members' controls, and the counter of exclusive locks there.
struct NodeLockState {
    std::span<Control* const> members;
    Word& exclusive;

    /// Returns the sum over all members and the lockers of other nodes: holders in the lower, waiting lockers in the
    /// upper half, as in one word.
    std::uint64_t lockers_of_all() const {
        std::uint64_t sum = members.front()->remote_lock_all.word.load(std::memory_order_seq_cst);
        for (Control const* m : members) sum += m->lock_all.word.load(std::memory_order_seq_cst);
        return sum;
    }
    /// Returns true if the rank holds a part of this node exclusively.
    bool holds_exclusively(int holder) const {
        return std::ranges::any_of(members, [&](Control const* m) { return exclusive_holder(m->lock.word) == holder; });
    }
    /// Returns true if no rank holds all parts, and `holder` need not step back for ranks that wait for them.
    bool admits(int holder, bool steps_back) const {
        std::uint64_t const lockers = lockers_of_all();
        if (lockers % one_waiting != 0) return false;
        return lockers == 0 || !steps_back || holds_exclusively(holder);
    }
};

/// `holder`: world rank. `steps_back`: it steps back for ranks that wait to lock all parts. A refused locker that was
/// counted temporarily sets `must_wake`: the caller must then wake the ranks that wait for `exclusive_count`.
inline bool try_exclusive(Word& lock, int holder, bool steps_back, NodeLockState const& node_locks, bool& must_wake) {
    if (lock.load(std::memory_order_relaxed) != 0 || !node_locks.admits(holder, steps_back)) return false;
    node_locks.exclusive.fetch_add(1, std::memory_order_seq_cst);
    std::uint64_t free = 0;
    if (node_locks.admits(holder, steps_back))
        if (lock.compare_exchange_strong(free, (static_cast<std::uint64_t>(holder) + 1) * one_exclusive,
                                         std::memory_order_acquire, std::memory_order_relaxed))
            return true;
    node_locks.exclusive.fetch_sub(1, std::memory_order_release);
    must_wake = true;
    return false;
}
/// The caller must then wake the ranks that wait for either word.
inline void release_exclusive(Word& lock, Word& exclusive) {
    lock.store(0, std::memory_order_release);
    exclusive.fetch_sub(1, std::memory_order_release);
}

// The words for all parts. Each is written by one process only.

inline void add_lockers(Word& all, std::uint64_t by) {
    all.store(all.load(std::memory_order_relaxed) + by, std::memory_order_seq_cst);
}
/// Adds one locker that waits for all parts.
inline void start_waiting_for_all(Word& all) { add_lockers(all, one_waiting); }
/// One locker that holds all parts waits again. The caller must wake the ranks that its lock has refused.
inline void step_back(Word& all) { add_lockers(all, one_waiting - 1); }
/// Must be called with a waiting locker in `all`. Returns true if that locker now holds all parts. A refused attempt
/// that others may have seen as a lock sets `must_wake`: the caller must then wake them.
inline bool try_all(Word& all, Word const& exclusive, bool& must_wake) {
    if (exclusive.load(std::memory_order_relaxed) != 0) return false;
    add_lockers(all, 1 - one_waiting);
    if (exclusive.load(std::memory_order_seq_cst) == 0) return true;
    step_back(all);
    must_wake = true;
    return false;
}
/// Removes one locker that holds all parts, or that waits. The caller must wake the ranks that it has refused.
inline void release_all(Word& all, bool held = true) { add_lockers(all, held ? -std::uint64_t{1} : -one_waiting); }

}   // namespace tutti::rma
