// SPDX-License-Identifier: BSD-3-Clause
// What the members of a window on one node synchronise by: words in the node's segment, a piece for each member, which
// that member allocates from its heap, so that it lies where the member runs.
//
// Zero is the first state of all of it. Who waits for a word waits by the one wait; who stores one that others may wait
// for wakes them. The arguments stand where the words are used: lock.hpp, stripes.hpp, by_processor.hpp,
// rma/synchronization/groups.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/flag.hpp"

namespace tutti::rma {

using Word = std::atomic<std::uint64_t>;

/// A word with a cache line of its own.
struct alignas(cache_line) LineWord {
    Word word;
};

/// Of one member. Followed by what each member of the node has told it.
struct Control {
    static constexpr std::size_t stripes = 64;

    LineWord lock;              ///< of this member's part of the window: exclusive holder, or number of shared ones
    LineWord all;               ///< whether this member has locked all parts, or waits for that (lock.hpp)
    LineWord remote_all;        ///< of the node's first member: how many ranks of other nodes have, or wait
    LineWord exclusive;         ///< of the node's first member: exclusive locks held on the node
    LineWord stripe[stripes];   ///< of this member's part: who works there in an accumulate (stripes.hpp)
    LineWord by_processor;      ///< in whose part this member combines integers so: place among members + 1; or 0
    LineWord stripes_only;      ///< of this member's part: whether integers are combined under stripes, too: no, yes,
                                ///< or from `begun` on the place of the member that is changing it
    enum : std::uint64_t { no, yes, begun };

    /// Which process this member is, for members that wait for it for long. Written before any other member reads it.
    struct alignas(cache_line) {
        std::uint64_t process;         ///< ProcessIdentity::word; 0: not known
        std::uint64_t pid_namespace;   ///< in which it is valid
        std::int64_t world_rank;
    };

    /// What one member has told another. One writer, and all words only grow.
    struct alignas(cache_line) Pair {
        Word posted;      ///< exposure epochs opened for the other
        Word completed;   ///< access epochs closed towards the other
    };
    /// What the member with this place on the node has told.
    Pair& from(std::size_t member) { return reinterpret_cast<Pair*>(this + 1)[member]; }

    static std::size_t bytes(std::size_t members) { return sizeof(Control) + members * sizeof(Pair); }
};

/// The window's members on one node, as one of them sees them.
struct NodeMembers {
    std::vector<Control*> controls;   ///< by place among them
    Control* mine = nullptr;          ///< of this process
    std::size_t me = 0;               ///< its place among them
    bool fenced = false;              ///< all are registered for fences by others (runtime/base/membarrier.hpp)

    /// The caller waits for what that member does within microseconds, and has for long. Throws Error if the member's
    /// process has ended.
    void check_alive(std::size_t member) const;
};

}   // namespace tutti::rma
