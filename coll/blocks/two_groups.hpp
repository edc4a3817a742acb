// SPDX-License-Identifier: BSD-3-Clause
// The two groups of an intercommunicator. Its collectives run on the union of both; ranks are those of the union.
#pragma once

#include <utility>
#include <vector>

#include "coll/env/env.hpp"

namespace tutti::coll {

/// The ranks [first, last) of the union group.
struct GroupRanks {
    int first, last;

    int size() const { return last - first; }
    bool contains(int rank) const { return rank >= first && rank < last; }
    std::vector<int> all_but(int rank) const {
        std::vector<int> all;
        for (int r = first; r < last; ++r)
            if (r != rank) all.push_back(r);
        return all;
    }
};

/// The two groups in the union group, from the point of view of this rank.
struct IntercommGroups {
    template <class Env>
    IntercommGroups(Env const& env, CommonArgs const& a)
        : local{0, a.first_group_size}, remote{a.first_group_size, env.size()}, rank(env.rank()) {
        if (rank >= a.first_group_size) std::swap(local, remote);
    }

    /// Returns this rank's number in its own group.
    int group_rank() const { return rank - local.first; }
    /// Returns the i-th peer in the other group, cyclically; if possible, each rank begins with a different one.
    int nth_remote(int i) const { return remote.first + (group_rank() + i) % remote.size(); }

    std::vector<int> remote_ranks() const {
        std::vector<int> all;
        for (int i = 0; i < remote.size(); ++i) all.push_back(nth_remote(i));
        return all;
    }
    /// Returns the ranks with which this one communicates in a rooted collective: the root, or all of the other group.
    std::vector<int> counterparts(int root) const {
        if (rank == root) return remote_ranks();
        return remote.contains(root) ? std::vector{root} : std::vector<int>();
    }

    GroupRanks local, remote;
    int rank;
};

}   // namespace tutti::coll
