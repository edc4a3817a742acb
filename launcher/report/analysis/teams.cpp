// SPDX-License-Identifier: BSD-3-Clause
// By the same functions of topo/ that the ranks use.
#include "launcher/report/analysis/teams.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "topo/hierarchy/hierarchy.hpp"

namespace tutti::launcher {
namespace {

constexpr std::size_t most_members = 1024;   // more cannot be drawn

/// "numa+socket+node": `node`, the outermost, is implied.
topo::LevelChoice choice_of(std::string_view levels) {
    std::string inner(levels);
    if (inner == "node" || inner.empty()) return {false, {}};
    if (inner.ends_with("+node")) inner.resize(inner.size() - 5);
    auto const choice = topo::parse_hierarchy(inner);
    return choice ? *choice : topo::LevelChoice{false, {}};
}

/// Members of one node, and their places there.
struct OnNode {
    std::vector<int> ranks, places;
};

OnNode on_node(RecordedNode const& node, std::set<int> const& members) {
    OnNode here;
    for (std::size_t place = 0; place < node.ranks.size(); ++place) {
        if (!members.contains(node.ranks[place])) continue;
        here.ranks.push_back(node.ranks[place]);
        here.places.push_back(static_cast<int>(place));
    }
    return here;
}

}   // namespace

std::vector<TeamLevel> teams_of(std::vector<RecordedNode> const& nodes, std::vector<int> const& members,
                                std::string_view levels) {
    if (members.empty() || members.size() > most_members) return {};
    std::set<int> const all(members.begin(), members.end());
    topo::LevelChoice const choice = choice_of(levels);
    std::vector<TeamLevel> result;
    std::size_t nodes_used = 0;
    for (RecordedNode const& node : nodes) {
        OnNode const here = on_node(node, all);
        if (here.ranks.empty() || node.placement.pu.size() < node.ranks.size()) continue;
        ++nodes_used;
        auto const tree = topo::make_hierarchy(node.machine, node.placement, here.places, choice);
        for (int level = 0; level < tree.levels(); ++level) {
            if (result.size() <= static_cast<std::size_t>(level)) result.push_back({tree.level_name(level), {}});
            std::map<int, std::vector<int>> teams;
            for (int r = 0; r < tree.size(); ++r)
                teams[tree.team(level, r).id].push_back(here.ranks[static_cast<std::size_t>(r)]);
            for (auto& [id, ranks] : teams) result[static_cast<std::size_t>(level)].teams.push_back(std::move(ranks));
        }
    }
    if (nodes_used > 1) result.push_back({"cluster", {members}});
    return result;
}

}   // namespace tutti::launcher
