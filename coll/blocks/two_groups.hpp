// SPDX-License-Identifier: BSD-3-Clause
// The two groups of an intercommunicator. Its collectives run on the union of both; ranks are those of the union.
#pragma once

#include <utility>
#include <vector>

#include "coll/env/env.hpp"

namespace tutti::coll {

/// The ranks [first, last) of the union group.
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

/// The two groups in the union group, from the point of view of this rank.
struct TwoGroups {
    template <class Env>
    TwoGroups(Env const& env, CommonArgs const& a)
        : own{0, a.first_group_size}, other{a.first_group_size, env.size()}, rank(env.rank()) {
        if (rank >= a.first_group_size) std::swap(own, other);
    }

    /// Returns this rank's number in its own group.
    int place() const { return rank - own.first; }
    /// Returns the i-th peer in the other group, cyclically; if possible, each rank begins with a different one.
    int nth_other(int i) const { return other.first + (place() + i) % other.size(); }

    std::vector<int> others() const {
        std::vector<int> all;
        for (int i = 0; i < other.size(); ++i) all.push_back(nth_other(i));
        return all;
    }
    /// Returns the ranks with which this one communicates in a rooted collective: the root, or all of the other group.
    std::vector<int> counterparts(int root) const {
        if (rank == root) return others();
        return other.has(root) ? std::vector{root} : std::vector<int>();
    }

    Ranks own, other;
    int rank;
};

}   // namespace tutti::coll
