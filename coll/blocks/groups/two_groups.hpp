// SPDX-License-Identifier: BSD-3-Clause
// The two groups of an intercommunicator in its union, as one of its ranks sees them.
#pragma once

#include <vector>

#include "coll/env/env.hpp"

namespace tutti::coll {

/// Ranks [first, last).
struct Ranks {
    int first, last;

    int size() const { return last - first; }
    bool has(int rank) const { return rank >= first && rank < last; }
    std::vector<int> all_but(int rank) const {
        std::vector<int> all;
        for (int r = first; r < last; ++r)
            if (r != rank) all.push_back(r);
        return all;
    }
};

struct TwoGroups {
    template <class Env>
    TwoGroups(Env const& env, CommonArgs const& a)
        : own{0, a.first_group_size}, other{a.first_group_size, env.size()}, rank(env.rank()) {
        if (rank >= a.first_group_size) std::swap(own, other);
    }

    /// This rank's place in its own group.
    int place() const { return rank - own.first; }
    /// The other group's ranks in an order in which no two of ours begin with the same one, if there are enough.
    int nth_other(int i) const { return other.first + (place() + i) % other.size(); }

    std::vector<int> others() const {
        std::vector<int> all;
        for (int i = 0; i < other.size(); ++i) all.push_back(nth_other(i));
        return all;
    }
    /// Whom this rank exchanges with where only a root and the group that it is not in do.
    std::vector<int> counterparts(int root) const {
        if (rank == root) return others();
        return other.has(root) ? std::vector{root} : std::vector<int>();
    }

    Ranks own, other;
    int rank;
};

}   // namespace tutti::coll
