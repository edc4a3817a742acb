// SPDX-License-Identifier: BSD-3-Clause
// Builds the tree of teams (each level groups the leaders of the level inside it) and chooses its levels.
#include "topo/hierarchy.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>

#include "topo/text.hpp"

namespace tutti::topo {

namespace {

// Team numbers from 0 in order of first appearance, for the ranks that take part in a level.
struct Split {
    std::vector<int> team;   // per participant
    int teams = 0;
};

Split split(const std::vector<int>& participants, const std::vector<int>& group) {
    Split result;
    std::unordered_map<int, int> number_of;
    for (const int rank : participants) {
        const auto [entry, is_new] = number_of.try_emplace(group[at(rank)], result.teams);
        if (is_new) ++result.teams;
        result.team.push_back(entry->second);
    }
    return result;
}

// Returns the positions sorted by team, ascending within each team (counting sort). Sets `begin` to where each team
// starts.
std::vector<int> sorted_by_team(const std::vector<int>& team, int teams, std::vector<int>& begin) {
    begin.assign(at(teams) + 1, 0);
    for (const int number : team) ++begin[at(number) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<int> next(begin.begin(), begin.end() - 1);
    std::vector<int> order(team.size());
    for (std::size_t i = 0; i < team.size(); ++i) order[at(next[at(team[i])]++)] = static_cast<int>(i);
    return order;
}

}   // namespace

Hierarchy Hierarchy::build(int ranks, std::span<const Grouping> candidates, std::string top) {
    Hierarchy hierarchy;
    hierarchy.size_ = ranks;
    if (ranks == 0) return hierarchy;
    for (const Grouping& candidate : candidates) hierarchy.add_level(candidate.name, candidate.group, false);
    hierarchy.add_level(std::move(top), std::vector<int>(at(ranks), 0), true);
    return hierarchy;
}

std::vector<int> Hierarchy::participants() const {
    std::vector<int> result;
    if (levels_.empty()) {
        result.resize(at(size_));
        std::iota(result.begin(), result.end(), 0);
        return result;
    }
    for (std::size_t team = at(levels_.back().first_team); team < teams_.size(); ++team) {
        result.push_back(members_[at(teams_[team].first_member)]);
    }
    return result;
}

void Hierarchy::add_level(std::string name, const std::vector<int>& group, bool always) {
    const std::vector<int> ranks = participants();
    const Split parts = split(ranks, group);
    const bool all_alone = parts.teams == static_cast<int>(ranks.size());
    const bool splits = parts.teams > 1 && !all_alone;
    if (!splits && !always) {
        const bool same_teams = all_alone && parts.teams > 1 && !levels_.empty();
        if (same_teams) levels_.back().name = std::move(name);
        return;
    }

    LevelTable level;
    level.name = std::move(name);
    level.first_team = static_cast<int>(teams_.size());
    std::vector<int> begin;
    const std::vector<int> order = sorted_by_team(parts.team, parts.teams, begin);
    std::vector<int> index_of_participant(ranks.size());
    for (int team = 0; team < parts.teams; ++team) {
        const int first = begin[at(team)], size = begin[at(team) + 1] - first;
        teams_.push_back({.first_member = static_cast<int>(members_.size()), .size = size});
        for (int i = 0; i < size; ++i) {
            const int participant = order[at(first + i)];
            index_of_participant[at(participant)] = i;
            members_.push_back(ranks[at(participant)]);
        }
    }
    // Participant i represents the i-th team of the inner level; at the first level each rank represents itself.
    std::vector<int> team_number(at(size_));
    level.index_of.resize(at(size_));
    for (int rank = 0; rank < size_; ++rank) {
        const int participant = levels_.empty() ? rank : levels_.back().team_of[at(rank)] - levels_.back().first_team;
        team_number[at(rank)] = parts.team[at(participant)];
        level.index_of[at(rank)] = index_of_participant[at(participant)];
    }
    set_ranks_under(level, team_number, parts.teams);
    level.team_of = std::move(team_number);
    for (int& team : level.team_of) team += level.first_team;
    levels_.push_back(std::move(level));
}

void Hierarchy::set_ranks_under(LevelTable& level, const std::vector<int>& team_number, int teams) {
    std::vector<int> begin;
    level.by_team = sorted_by_team(team_number, teams, begin);
    for (int team = 0; team < teams; ++team) {
        TeamTable& table = teams_[at(level.first_team + team)];
        table.first_under = begin[at(team)];
        table.under = begin[at(team) + 1] - begin[at(team)];
        const int lowest = level.by_team[at(table.first_under)];
        const int highest = level.by_team[at(table.first_under + table.under - 1)];
        consecutive_ = consecutive_ && highest - lowest == table.under - 1;
    }
}

int Hierarchy::team_count(int level) const {
    const int next = level + 1 < levels() ? levels_[at(level + 1)].first_team : team_count();
    return next - levels_[at(level)].first_team;
}

int Hierarchy::levels_of(int rank, int root) const {
    int level = 0;
    while (level + 1 < levels() && team(level, rank, root).is_leader) ++level;
    return level + 1;
}

std::span<const int> Hierarchy::ranks_under(int level, int rank) const {
    const LevelTable& table = levels_[at(level)];
    const TeamTable& team = teams_[at(table.team_of[at(rank)])];
    return {table.by_team.data() + team.first_under, at(team.under)};
}

std::string Hierarchy::describe() const {
    std::string text;
    for (const LevelTable& level : levels_) text += (text.empty() ? "" : "+") + level.name;
    return text;
}

// Selection of levels: the values of TUTTI_HIERARCHY, and the automatic choice.

namespace {

constexpr std::array all_levels = {Level::l2, Level::l3, Level::numa, Level::socket, Level::node};

std::string unknown_level_message(std::string_view word) {
    return "\"" + std::string(word) +
           "\" is not a level of the hierarchy; write auto, flat, or some of l2, l3, numa, socket, node joined by +, "
           "such as numa+socket.";
}

// Returns the level that a word names; "package" is accepted for "socket".
const Level* find_level(const std::string& word) {
    const std::string name = word == "package" ? "socket" : word;
    const auto found = std::find_if(all_levels.begin(), all_levels.end(), [&](Level l) { return name_of(l) == name; });
    return found == all_levels.end() ? nullptr : &*found;
}

// Returns the levels to try, innermost first. They are sorted by number of units, because processors differ in whether
// the last-level cache or the NUMA node is the finer one. The automatic choice skips an L2 cache that belongs to one
// core, because the core's hardware threads share it anyway.
std::vector<Level> candidates(const Machine& machine, const Placement& placement, const LevelChoice& choice) {
    std::vector<Level> levels = choice.levels;
    if (choice.automatic) {
        levels = {Level::numa, Level::socket};
        if (placement.fixed) levels.insert(levels.begin(), Level::l3);
        const bool shared_l2 = machine.count(Level::l2) < machine.core_count();
        if (placement.fixed && shared_l2) levels.insert(levels.begin(), Level::l2);
    }
    std::stable_sort(levels.begin(), levels.end(),
                     [&](Level a, Level b) { return machine.count(a) > machine.count(b); });
    return levels;
}

}   // namespace

Result<LevelChoice> parse_hierarchy(std::string_view text) {
    const std::string wanted = lower(trimmed(text));
    if (wanted.empty() || wanted == "auto") return LevelChoice{};
    LevelChoice choice{.automatic = false, .levels = {}};
    if (wanted == "flat") return choice;
    for (const std::string& word : split_words(wanted, "+,")) {
        if (word == "auto" || word == "flat") {
            return Result<LevelChoice>::failure("\"" + word +
                                                "\" is a complete hierarchy and cannot be combined with "
                                                "levels as in \"" +
                                                wanted + "\".");
        }
        const Level* level = find_level(word);
        if (!level) return Result<LevelChoice>::failure(unknown_level_message(word));
        choice.levels.push_back(*level);
    }
    std::sort(choice.levels.begin(), choice.levels.end());
    choice.levels.erase(std::unique(choice.levels.begin(), choice.levels.end()), choice.levels.end());
    if (choice.levels.size() > 1) std::erase(choice.levels, Level::node);   // implied
    return choice;
}

std::string to_string(const LevelChoice& choice) {
    if (choice.automatic) return "auto";
    if (choice.levels.empty()) return "flat";
    std::string text;
    for (const Level level : choice.levels) text += (text.empty() ? "" : "+") + std::string(name_of(level));
    return text;
}

Hierarchy make_hierarchy(const Machine& machine, const Placement& placement, std::span<const int> node_ranks,
                         const LevelChoice& choice) {
    std::vector<Grouping> groupings;
    for (const Level level : candidates(machine, placement, choice)) {
        Grouping grouping{.name = std::string(name_of(level)), .group = {}};
        for (const int node_rank : node_ranks) {
            const int pu = placement.pu[static_cast<std::size_t>(node_rank)];
            grouping.group.push_back(machine.pus[static_cast<std::size_t>(pu)].at(level));
        }
        groupings.push_back(std::move(grouping));
    }
    return Hierarchy::build(static_cast<int>(node_ranks.size()), groupings);
}

// Locality of two ranks. It depends only on where they run, not on the levels of the hierarchy.

std::vector<Locality> localities(const Machine& machine, const Placement& placement, std::span<const int> node_ranks,
                                 int from) {
    auto unit_of = [&](int rank) -> const Pu& {
        const int node_rank = node_ranks[static_cast<std::size_t>(rank)];
        return machine.pus[static_cast<std::size_t>(placement.pu[static_cast<std::size_t>(node_rank)])];
    };
    // A cache that is as wide as a NUMA node or a socket, or wider, does not count as a level of its own. If no L3
    // cache is described, the socket replaces it (Machine::complete_caches).
    const int l3s = machine.count(Level::l3);
    const bool l3_divides = l3s > machine.count(Level::numa) && l3s > machine.count(Level::socket);
    const Pu& own_pu = unit_of(from);
    std::vector<Locality> all;
    for (int rank = 0; rank < static_cast<int>(node_ranks.size()); ++rank) {
        const Pu& other = unit_of(rank);
        const bool cache = own_pu.core == other.core || own_pu.l2 == other.l2 || (l3_divides && own_pu.l3 == other.l3);
        // Descriptions without NUMA nodes have one node for all sockets, so sockets are compared first.
        all.push_back(cache                           ? Locality::cache
                      : own_pu.socket != other.socket ? Locality::machine
                      : own_pu.numa != other.numa     ? Locality::socket
                                                      : Locality::numa);
    }
    return all;
}

}   // namespace tutti::topo
