// SPDX-License-Identifier: BSD-3-Clause
// Finds the ranks of a world that are deadlocked, and which of them are the cause. Hilbrich, de Supinski, Schulz,
// Müller: A Graph Based Approach for MPI Deadlock Detection, ICS 2009: AND waits (for all) and OR waits (for any) form
// one graph; ranks that cannot be released in it are deadlocked. launcher/diagnosis/proof.md has the argument.
#pragma once

#include <vector>

#include "runtime/state/call_record.hpp"

namespace tutti::launcher {

/// The state of a rank of the world, as far as it is known.
struct RankWait {
    enum class State { running, blocked, ended };
    State state = State::running;
    Awaiting awaiting = Awaiting::unknown;   ///< of a blocked rank
    /// Ranks of the same world, in any order, possibly repeated. A rank outside the world counts as able to act,
    /// because its state is not observed.
    std::vector<RankRange> awaited{};
    /// An act of any of these makes the rank act as well, although its own wait continues: its library then advances an
    /// operation that other ranks wait for.
    std::vector<RankRange> others{};
    /// The waits of its other threads, if there are several, with their own `awaiting` and `awaited`. The rank can act
    /// when one of its threads can.
    std::vector<RankWait> other_threads{};
};

/// Returns true if any thread of the waiting rank awaits `rank`.
bool awaits(RankWait const& wait, int rank);

struct Deadlock {
    /// Sets of ranks that wait for each other, for themselves, or only for ended ranks (ranks that await the same ended
    /// ranks form one set), and for no other deadlocked rank. Each set is sorted, and so is the list of sets.
    std::vector<std::vector<int>> cores;
    /// The other deadlocked ranks: as far as is known, they would be released if the cores were.
    std::vector<int> dependents;

    bool empty() const { return cores.empty(); }
    bool operator==(Deadlock const&) const = default;
};

/// The index in `ranks` is the rank. Time: at most n² tests whether a rank is awaited, and three passes over each wait.
/// Memory: O(n), however many ranks are awaited.
Deadlock find_deadlock(std::vector<RankWait> const& ranks);

}   // namespace tutti::launcher
