// SPDX-License-Identifier: BSD-3-Clause
// The tree of teams of one communicator. Level 0 is the innermost and all ranks take part in it; of each team one rank,
// its leader, takes part in the next level; the last level is one team. An algorithm loops over levels and never asks
// what they are. All ranks are numbers in the communicator. Built once per communicator, immutable afterwards, the same
// in all ranks; n ranks and L levels take about 3 n L ints.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/base/result.hpp"
#include "topo/machine/machine.hpp"

namespace tutti::topo {

// Which levels are wanted: TUTTI_HIERARCHY or an info key.
struct LevelChoice {
    bool automatic = true;
    std::vector<Level> levels;   // when not automatic; innermost first; `node` is implied; empty means flat

    bool operator==(const LevelChoice&) const = default;
};

// "auto", "flat", or names of levels joined by + or a comma, in any order: "numa+socket".
Result<LevelChoice> parse_hierarchy(std::string_view text);
std::string to_string(const LevelChoice& choice);

// One candidate for a level: its name and for each rank a number, equal for ranks that are together.
struct Grouping {
    std::string name;
    std::vector<int> group;
};

// The ranks of a team: ascending, except that a root stands in the place of the one whose team it leads.
class Members {
public:
    Members(std::span<const int> ranks, int replaced, int root) : ranks_(ranks), replaced_(replaced), root_(root) {}

    int size() const { return static_cast<int>(ranks_.size()); }
    int operator[](int index) const { return index == replaced_ ? root_ : ranks_[static_cast<std::size_t>(index)]; }

    class Iterator {
    public:
        using value_type = int;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;
        using pointer = const int*;
        using reference = int;

        Iterator(const Members* of, int index) : of_(of), index_(index) {}
        int operator*() const { return (*of_)[index_]; }
        Iterator& operator++() { return ++index_, *this; }
        bool operator==(const Iterator& other) const { return index_ == other.index_; }

    private:
        const Members* of_;
        int index_;
    };
    Iterator begin() const { return {this, 0}; }
    Iterator end() const { return {this, size()}; }

private:
    std::span<const int> ranks_;
    int replaced_;   // index at which the root stands in, or -1
    int root_;
};

// A team as one rank sees it in an operation with a given root (or none).
struct Team {
    int id;   // number of the team in the hierarchy, the same for every root: where its flags are
    Members members;
    int leader;         // the rank that stands for the team at the next level; the root where the root is in the team
    int leader_index;   // its place in members
    int my_index;       // the place of the asking rank, or of the member that stands for it
    bool i_take_part;   // members[my_index] is the asking rank
    bool i_lead;        // the asking rank is the leader
};

class Hierarchy {
public:
    // Levels are kept only where they really split: a candidate is dropped when all ranks are alone in it or together,
    // and one with the same teams as the level inside of it only gives that its name (a socket that is one NUMA node
    // is a socket). The outermost team, named `top`, always exists. Candidates are innermost first; each must have
    // one number per rank. No ranks: no levels.
    static Hierarchy build(int ranks, std::span<const Grouping> candidates, std::string top = "node");

    int size() const { return size_; }
    int levels() const { return static_cast<int>(levels_.size()); }
    const std::string& level_name(int level) const { return levels_[static_cast<std::size_t>(level)].name; }
    int team_count(int level) const;
    int team_count() const { return static_cast<int>(teams_.size()); }   // over all levels; ids are 0 … team_count - 1

    // The team of `level` that `rank` is in or is stood for in. Constant time, no allocation. Without a root the lowest
    // rank of a team leads it; a root leads every team that it is in.
    Team team(int level, int rank, int root = -1) const;

    // In how many levels, from 0 up, the rank takes part: 1 for a plain member, levels() for the topmost leader.
    int levels_of(int rank, int root = -1) const;

    // All ranks under a team of a level, ascending: the team's members' members and so on.
    std::span<const int> ranks_under(int level, int rank) const;

    // Every team of every level holds consecutive ranks: an operator that does not commute may follow the tree.
    bool consecutive() const { return consecutive_; }

    // "numa+socket+node", for people.
    std::string describe() const;

private:
    struct LevelTable {
        std::string name;
        std::vector<int> team_of;    // per rank: team id
        std::vector<int> index_of;   // per rank: its place, or that of the one who stands for it, in members
        std::vector<int> by_team;    // all ranks, sorted by team, then rank
        int first_team = 0;
    };
    struct TeamTable {
        int first_member = 0;   // in members_
        int size = 0;
        int first_under = 0;   // in by_team of its level
        int under = 0;
    };

    // Those who lead the outermost level so far (all ranks before the first), ascending.
    std::vector<int> participants() const;
    void add_level(std::string name, const std::vector<int>& group, bool always);
    void note_ranks_under(LevelTable& level, const std::vector<int>& team_number, int teams);

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
    const Members members(ranks, replaced, root);
    const int leader_index = has_root ? replaced : 0;
    const int my_index = table.index_of[at_rank];
    const int leader = members[leader_index];
    return {.id = id,
            .members = members,
            .leader = leader,
            .leader_index = leader_index,
            .my_index = my_index,
            .i_take_part = members[my_index] == rank,
            .i_lead = leader == rank};
}

// What a message crosses between two ranks: it stays inside of a shared cache, of a NUMA node, of a socket, goes from
// socket to socket, or to another node.
enum class Locality : unsigned char { cache, numa, socket, machine, network };
inline constexpr int localities_count = 5;
std::string_view name_of(Locality locality);

// From one rank of a communicator to each of them; `node_ranks` as below.
std::vector<Locality> localities(const Machine& machine, const Placement& placement, std::span<const int> node_ranks,
                                 int from);

// The hierarchy of a communicator within one node. `node_ranks[i]` says which rank of the node (index into
// Placement::pu) the communicator's rank i is.
Hierarchy make_hierarchy(const Machine& machine, const Placement& placement, std::span<const int> node_ranks,
                         const LevelChoice& choice);

}   // namespace tutti::topo
