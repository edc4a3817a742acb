// SPDX-License-Identifier: BSD-3-Clause
// The tree of teams of one communicator (XHC, section IV). All ranks take part in level 0, the innermost. One rank of
// each team, its leader, takes part in the next level. The last level is one team. An algorithm loops over the levels
// and need not know which hardware they stand for. Rank numbers are those of the communicator. A Hierarchy is built
// once per communicator, is immutable afterwards and the same in all ranks; n ranks and L levels take about 3 n L ints.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/machine.hpp"
#include "topo/result.hpp"

namespace tutti::topo {

/// The requested levels: TUTTI_HIERARCHY or an info key.
struct LevelChoice {
    bool automatic = true;
    /// If not automatic: innermost first. Empty: flat. Other levels imply `node`, which alone differs from flat between
    /// nodes only.
    std::vector<Level> levels;

    bool operator==(const LevelChoice&) const = default;
};

/// Accepts "auto" or an empty text, "flat", or names of levels joined by "+" or ",", in any order and ignoring letter
/// case: "numa+socket". to_string returns such a text.
Result<LevelChoice> parse_hierarchy(std::string_view text);
std::string to_string(const LevelChoice& choice);

/// A candidate for a level: its name, and for each rank a group number. Ranks of one group have equal numbers.
struct Grouping {
    std::string name;
    std::vector<int> group;
};

/// The ranks of a team in ascending order, with one exception: in an operation with a root, the root takes the position
/// of the member that represents the root's team of the level inside. Refers to the Hierarchy, which must stay
/// valid as long as this object.
class TeamMembers {
public:
    TeamMembers(std::span<const int> ranks, int replaced, int root) : ranks_(ranks), replaced_(replaced), root_(root) {}

    int size() const { return static_cast<int>(ranks_.size()); }
    int operator[](int index) const { return index == replaced_ ? root_ : ranks_[static_cast<std::size_t>(index)]; }

    class Iterator {
    public:
        using value_type = int;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;
        using pointer = const int*;
        using reference = int;

        Iterator(const TeamMembers* of, int index) : of_(of), index_(index) {}
        int operator*() const { return (*of_)[index_]; }
        Iterator& operator++() { return ++index_, *this; }
        bool operator==(const Iterator& other) const { return index_ == other.index_; }

    private:
        const TeamMembers* of_;
        int index_;
    };
    Iterator begin() const { return {this, 0}; }
    Iterator end() const { return {this, size()}; }

private:
    std::span<const int> ranks_;
    int replaced_;   ///< index of the member that the root replaces, or -1
    int root_;
};

/// A team as one rank sees it in an operation with a given root, or without one.
struct Team {
    int id;   ///< number of the team in the hierarchy, independent of the root; selects its flags
    TeamMembers members;
    int leader;         ///< the member that represents the team at the next level; the root if the root is in the team
    int leader_index;   ///< index of the leader in members
    int my_index;       ///< index in members of the calling rank, or of the member that represents it
    bool is_participant;   ///< members[my_index] is the calling rank
    bool is_leader;        ///< the calling rank is the leader
};

class Hierarchy {
public:
    /// Builds the tree from `candidates`, innermost first; each must have one number per rank. Keeps only levels that
    /// split the ranks: drops a candidate if all ranks are alone in it or all are together. A candidate with the same
    /// teams as the level inside it only renames that level (a socket that is one NUMA node becomes a socket). The
    /// outermost team, named `top`, always exists. Without ranks there are no levels.
    static Hierarchy build(int ranks, std::span<const Grouping> candidates, std::string top = "node");

    int size() const { return size_; }
    int levels() const { return static_cast<int>(levels_.size()); }
    const std::string& level_name(int level) const { return levels_[static_cast<std::size_t>(level)].name; }
    int team_count(int level) const;
    int team_count() const { return static_cast<int>(teams_.size()); }   ///< of all levels; ids are 0 … team_count - 1

    /// Returns the team of `level` that contains `rank` or the leader that represents it. Constant time, no allocation.
    /// Without a root, the lowest rank of a team leads it; a root leads every team that it is in.
    Team team(int level, int rank, int root = -1) const;

    /// Returns the number of levels, from 0 up, in which the rank takes part: 1 for a rank that leads no team, levels()
    /// for the topmost leader.
    int levels_of(int rank, int root = -1) const;

    /// Returns all ranks below a team of `level` in ascending order: the members of its members' teams and so on.
    std::span<const int> ranks_under(int level, int rank) const;

    /// Returns true if every team of every level consists of consecutive ranks. A reduction with a non-commutative
    /// operator may then follow the tree.
    bool consecutive() const { return consecutive_; }

    /// Returns a text for users: "numa+socket+node".
    std::string describe() const;

private:
    struct LevelTable {
        std::string name;
        std::vector<int> team_of;    ///< per rank: team id
        std::vector<int> index_of;   ///< per rank: its index in members, or that of the rank that represents it
        std::vector<int> by_team;    ///< all ranks, sorted by team, then rank
        int first_team = 0;
    };
    struct TeamTable {
        int first_member = 0;   ///< index in members_
        int size = 0;
        int first_under = 0;   ///< index in by_team of its level
        int under = 0;         ///< number of ranks below the team
    };

    // Returns the leaders of the outermost level built so far in ascending order; before the first level, all ranks.
    std::vector<int> participants() const;
    void add_level(std::string name, const std::vector<int>& group, bool always);
    void set_ranks_under(LevelTable& level, const std::vector<int>& team_number, int teams);

    int size_ = 0;
    bool consecutive_ = true;
    std::vector<LevelTable> levels_;
    std::vector<TeamTable> teams_;
    std::vector<int> members_;
};

inline Team Hierarchy::team(int level, int rank, int root) const {
    const LevelTable& table = levels_[static_cast<std::size_t>(level)];
    const auto at_rank = static_cast<std::size_t>(rank);
    const int id = table.team_of[at_rank];
    const TeamTable& team = teams_[static_cast<std::size_t>(id)];
    const std::span<const int> ranks(members_.data() + team.first_member, static_cast<std::size_t>(team.size));

    const bool has_root = root >= 0 && table.team_of[static_cast<std::size_t>(root)] == id;
    const int replaced = has_root ? table.index_of[static_cast<std::size_t>(root)] : -1;
    const TeamMembers members(ranks, replaced, root);
    const int leader_index = has_root ? replaced : 0;
    const int my_index = table.index_of[at_rank];
    const int leader = members[leader_index];
    return {.id = id,
            .members = members,
            .leader = leader,
            .leader_index = leader_index,
            .my_index = my_index,
            .is_participant = members[my_index] == rank,
            .is_leader = leader == rank};
}

/// The narrowest hardware that two ranks share: a cache, a NUMA node, a socket, the machine, or only the network.
enum class Locality : unsigned char { cache, numa, socket, machine, network };
inline constexpr int locality_count = 5;

/// Returns the locality between rank `from` of a communicator within one node and each of its ranks; never
/// Locality::network. `node_ranks` is as in make_hierarchy.
std::vector<Locality> localities(const Machine& machine, const Placement& placement, std::span<const int> node_ranks,
                                 int from);

/// Builds the hierarchy of a communicator within one node. `node_ranks[i]` is the local rank (index into Placement::pu)
/// of the communicator's rank i.
Hierarchy make_hierarchy(const Machine& machine, const Placement& placement, std::span<const int> node_ranks,
                         const LevelChoice& choice);

}   // namespace tutti::topo
