// SPDX-License-Identifier: BSD-3-Clause
// Locks of a window's parts among the ranks of a node (MPI 3.1, 11.5.3). Nothing here waits: a refused rank tries
// again.
//
// A part has a word: the upper half is the exclusive holder's world rank + 1, the lower half the number of shared
// holders. A lock is a compare-and-swap from 0, or from no exclusive holder.
//
// lock_all is one store to a word of the locker's own, however many members there are, because many ranks lock all and
// few lock one exclusively. A word counts the lockers that hold all in its lower half and those that wait in its upper
// half. A: the locker counts itself as waiting. Where `exclusive` reads 0, it counts itself as holding instead and
// reads `exclusive` again; 0: it has the lock; else it counts itself as waiting once more and tries again later. B: an
// exclusive locker counts itself in `exclusive`, then reads the words; if any has a holder, it counts itself out and
// tries again. Store and load are sequentially consistent on both sides, so of two that come at the same time at least
// one sees the other: both are never inside. Both may step back; each tries again when it reads the other's count as 0.
//
// A locker that waits holds nothing by A: a window of several nodes has a word for each node (remote_all, in which the
// first member of a node counts the lockers of other nodes), and who is refused on one node waits on all
// (rma/synchronization/locks.cpp). So A is in no circle: those it waits for never wait for it, but for what follows.
//
// An exclusive locker steps back for those who wait for all, too, or a stream of exclusive locks could keep them out
// without end. But those may wait for a lock whose holder waits for this locker, by a message or by another lock, so it
// does that for a millisecond at most, and a holder of another exclusive lock on the node not at all. The lock words
// themselves say who holds one, so a target depends on nothing that an origin believes: its other lock may be asked for
// and not held yet, or be given back meanwhile.
//
// Shared holders of single parts and of all do not exclude each other and know nothing of each other.
#pragma once

#include <algorithm>
#include <span>

#include "rma/node/control.hpp"

namespace tutti::rma {

inline constexpr std::uint64_t one_exclusive = 1ULL << 32;   ///< what a holder's number is shifted by

/// The world rank that holds the part exclusively; −1: nobody.
inline int exclusive_holder(Word const& lock) {
    return static_cast<int>(lock.load(std::memory_order_relaxed) / one_exclusive) - 1;
}

inline bool try_shared(Word& lock) {
    std::uint64_t held = lock.load(std::memory_order_relaxed);
    while (held < one_exclusive)
        if (lock.compare_exchange_weak(held, held + 1, std::memory_order_acquire, std::memory_order_relaxed))
            return true;
    return false;
}
inline void leave_shared(Word& lock) { lock.fetch_sub(1, std::memory_order_release); }

inline constexpr std::uint64_t one_waiting = 1ULL << 32;   ///< of a word for all
inline constexpr std::int64_t patience_ns = 1'000'000;     ///< of an exclusive locker with those who wait for all

inline bool all_locked(Word const& all, std::memory_order order = std::memory_order_relaxed) {
    return all.load(order) % one_waiting != 0;
}

/// Those that may lock all parts of the node: the members' controls, and what counts exclusive locks there.
struct Others {
    std::span<Control* const> members;
    Word& exclusive;

    /// All of them, and the lockers of other nodes, in the lower and the upper half as in one of the words.
    std::uint64_t lockers_of_all() const {
        std::uint64_t sum = members.front()->remote_all.word.load(std::memory_order_seq_cst);
        for (Control const* m : members) sum += m->all.word.load(std::memory_order_seq_cst);
        return sum;
    }
    /// Does the rank hold a part of this node exclusively?
    bool excluded_by(int holder) const {
        return std::ranges::any_of(members, [&](Control const* m) { return exclusive_holder(m->lock.word) == holder; });
    }
    bool admit(int holder, bool patient) const {
        std::uint64_t const lockers = lockers_of_all();
        if (lockers % one_waiting != 0) return false;
        return lockers == 0 || !patient || excluded_by(holder);
    }
};

/// `holder`: world rank. `patient`: it steps back for those who wait to lock all. A refusal that has counted itself
/// for a moment sets `disturbed`: the ranks that wait for `exclusive` must be woken.
inline bool try_exclusive(Word& lock, int holder, bool patient, Others const& others, bool& disturbed) {
    if (lock.load(std::memory_order_relaxed) != 0 || !others.admit(holder, patient)) return false;
    others.exclusive.fetch_add(1, std::memory_order_seq_cst);
    std::uint64_t free = 0;
    if (others.admit(holder, patient))
        if (lock.compare_exchange_strong(free, (static_cast<std::uint64_t>(holder) + 1) * one_exclusive,
                                         std::memory_order_acquire, std::memory_order_relaxed))
            return true;
    others.exclusive.fetch_sub(1, std::memory_order_release);
    disturbed = true;
    return false;
}
inline void leave_exclusive(Word& lock, Word& exclusive) {
    lock.store(0, std::memory_order_release);
    exclusive.fetch_sub(1, std::memory_order_release);
}

// The words for all, each written by one process alone.

inline void change_all(Word& all, std::uint64_t by) {
    all.store(all.load(std::memory_order_relaxed) + by, std::memory_order_seq_cst);
}
/// One more waits to lock all.
inline void begin_all(Word& all) { change_all(all, one_waiting); }
/// One that holds all waits again. The ranks that its lock has refused must be woken.
inline void step_back(Word& all) { change_all(all, one_waiting - 1); }
/// True when one that waits holds all now. A refusal that others may have seen as a lock sets `disturbed`: they must be
/// woken.
inline bool try_all(Word& all, Word const& exclusive, bool& disturbed) {
    if (exclusive.load(std::memory_order_relaxed) != 0) return false;
    change_all(all, 1 - one_waiting);
    if (exclusive.load(std::memory_order_seq_cst) == 0) return true;
    step_back(all);
    disturbed = true;
    return false;
}
/// One that holds all, or one that waits, goes. The ranks that it has refused must be woken.
inline void leave_all(Word& all, bool held = true) { change_all(all, held ? -std::uint64_t{1} : -one_waiting); }

}   // namespace tutti::rma
