// SPDX-License-Identifier: BSD-3-Clause
// Which levels of a machine become levels of a hierarchy: the words of TUTTI_HIERARCHY, and the automatic choice.
#include <algorithm>
#include <array>

#include "topo/base/words.hpp"
#include "topo/hierarchy/hierarchy.hpp"

namespace tutti::topo {

namespace {

constexpr std::array all_levels = {Level::l2, Level::l3, Level::numa, Level::socket, Level::node};

std::string complaint(std::string_view word) {
    return "\"" + std::string(word) +
           "\" is not a level of the hierarchy; write auto, flat, or some of l2, l3, numa, socket, node joined by +, "
           "such as numa+socket.";
}

// The level a word names; a few other names of the same thing are understood.
const Level* find_level(const std::string& word) {
    const std::string name = word == "package" ? "socket" : word;
    const auto found = std::find_if(all_levels.begin(), all_levels.end(), [&](Level l) { return name_of(l) == name; });
    return found == all_levels.end() ? nullptr : &*found;
}

// The levels to try, innermost first. Finer ones lie inside coarser ones, whichever way round a processor has its last
// level cache and its NUMA nodes. By itself an L2 that one core has alone is no level: its threads share it anyway.
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
            return Result<LevelChoice>::failure("\"" + word + "\" names a whole hierarchy and stands alone, not in \"" +
                                                wanted + "\".");
        }
        const Level* level = find_level(word);
        if (!level) return Result<LevelChoice>::failure(complaint(word));
        if (*level != Level::node) choice.levels.push_back(*level);
    }
    std::sort(choice.levels.begin(), choice.levels.end());
    choice.levels.erase(std::unique(choice.levels.begin(), choice.levels.end()), choice.levels.end());
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

}   // namespace tutti::topo
