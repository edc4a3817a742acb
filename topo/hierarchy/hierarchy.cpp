// SPDX-License-Identifier: BSD-3-Clause
// Building the tree of teams: each level groups the leaders of the level inside of it.
#include "topo/hierarchy/hierarchy.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace tutti::topo {

namespace {

// Team numbers from 0 in order of first appearance, for the ranks that take part.
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

// Positions sorted by team, in rising order within each: a counting sort. `begin` gets where each team starts.
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
    // A participant stands for the team of the inner level with the same number; at the first level for itself.
    std::vector<int> team_number(at(size_));
    level.index_of.resize(at(size_));
    for (int rank = 0; rank < size_; ++rank) {
        const int stands_for_me = levels_.empty() ? rank : levels_.back().team_of[at(rank)] - levels_.back().first_team;
        team_number[at(rank)] = parts.team[at(stands_for_me)];
        level.index_of[at(rank)] = index_of_participant[at(stands_for_me)];
    }
    note_ranks_under(level, team_number, parts.teams);
    level.team_of = std::move(team_number);
    for (int& team : level.team_of) team += level.first_team;
    levels_.push_back(std::move(level));
}

void Hierarchy::note_ranks_under(LevelTable& level, const std::vector<int>& team_number, int teams) {
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
    while (level + 1 < levels() && team(level, rank, root).i_lead) ++level;
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

}   // namespace tutti::topo
