// SPDX-License-Identifier: BSD-3-Clause
// Locks of a window's parts among the ranks of a node (MPI 3.1, 11.5.3). Nothing here waits: a refused rank tries
// again.
//
// A part has a word: the upper half is the exclusive holder's world rank + 1, the lower half the number of shared
// holders. A lock is a compare-and-swap from 0, or from no exclusive holder.
//
// lock_all is one store to a word of the locker's own, however many members there are, because many ranks lock all and
// few lock one exclusively. A: the locker stores 1 to its `all` word, then reads `exclusive`; 0: it has the lock; else
// it leaves its word and reads `exclusive` again. B: an exclusive locker counts itself in `exclusive`, then reads the
// `all` words of the others; if any is not 0, it counts itself out and tries again. Store and load are sequentially
// consistent on both sides, so of two that come at the same time at least one sees the other: both are never inside. A
// that waits keeps its word, so B steps back and A comes in once those inside have left: there is no circle.
//
// A holder of another exclusive lock on the node need not step back for the `all` words: those ranks wait for it. It
// counts itself first and then reads that it still holds the other lock. If so, its release, a store to the word and
// then a subtraction from `exclusive`, had not reached `exclusive` when it counted itself: else the addition would
// have read from that release, and the word would read 0. So `exclusive` was never 0 in between, and no rank has come
// in by A since the first lock was taken. The lock words themselves say who holds one, so a target depends on nothing
// that an origin believes: its other lock may be asked for and not held yet, or be given back meanwhile.
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

/// The others that may lock everybody: their controls, and what counts exclusive locks on the node.
struct Others {
    std::span<Control* const> members;
    Control const* self;   ///< of them: whose own word does not matter; null: none
    Word& exclusive;

    bool all_locked_by_any() const {
        for (Control* m : members)
            if (m != self && m->all.word.load(std::memory_order_seq_cst) != 0) return true;
        return false;
    }
    /// Does the rank hold a part of this node exclusively?
    bool excluded_by(int holder) const {
        return std::ranges::any_of(members, [&](Control const* m) { return exclusive_holder(m->lock.word) == holder; });
    }
    bool admit(int holder) const { return !all_locked_by_any() || excluded_by(holder); }
};

/// `holder`: world rank. A refusal that has counted itself for a moment sets `disturbed`: the ranks that wait for
/// `exclusive` must be woken.
inline bool try_exclusive(Word& lock, int holder, Others const& others, bool& disturbed) {
    if (lock.load(std::memory_order_relaxed) != 0 || !others.admit(holder)) return false;
    others.exclusive.fetch_add(1, std::memory_order_seq_cst);
    std::uint64_t free = 0;
    if (others.admit(holder))
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

/// Announces that everybody is locked; true when nobody holds an exclusive lock. Else the caller is in as soon as
/// `exclusive` is 0.
inline bool begin_all(Word& all, Word const& exclusive) {
    all.store(1, std::memory_order_seq_cst);
    return exclusive.load(std::memory_order_seq_cst) == 0;
}
inline void leave_all(Word& all) { all.store(0, std::memory_order_release); }

}   // namespace tutti::rma
