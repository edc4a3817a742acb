// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of a world wait in vain, and which of them are why. Hilbrich, de Supinski, Schulz, Müller: A Graph Based
// Approach for MPI Deadlock Detection, ICS 2009: waits for all and waits for any are one graph, and what cannot be
// released in it is deadlocked. launcher/diagnosis/proof.md has the argument.
#pragma once

#include <vector>

#include "runtime/counters/blocked.hpp"

namespace tutti::launcher {

/// What a rank of the world does, as far as it can be told.
struct RankWait {
    enum class State { running, blocked, ended };
    State state = State::running;
    Awaiting awaiting = Awaiting::unknown;   ///< of a blocked rank
    /// Ranks of the same world, in any order, named once or more often. One outside of the world counts as able to act:
    /// nobody sees what it does.
    std::vector<RankRange> awaited{};
    /// An act of any of these makes the rank act, too, though it stays where it is: its library moves something on that
    /// it does not wait for itself.
    std::vector<RankRange> others{};
    /// What its other threads wait for, if it has several, by `awaiting` and `awaited` of these: the rank can act when
    /// one of its threads can.
    std::vector<RankWait> also{};
};

/// Is `rank` among those that a thread of this one awaits?
bool awaits(RankWait const& wait, int rank);

struct Deadlock {
    /// Ranks that wait for each other, or for themselves, or for nobody but ended ranks (together where these are the
    /// same), and for no other rank that waits in vain. Sorted, and so are they among each other.
    std::vector<std::vector<int>> cores;
    std::vector<int> behind;   ///< the others that wait in vain: released if the cores were, as far as one can tell

    bool empty() const { return cores.empty(); }
    bool operator==(Deadlock const&) const = default;
};

/// The index is the rank. Time: n² tests of whether a rank is awaited at the most, and each wait looked through three
/// times; memory: n, however many ranks are awaited.
Deadlock find_deadlock(std::vector<RankWait> const& ranks);

}   // namespace tutti::launcher
