// SPDX-License-Identifier: BSD-3-Clause
// Draws a machine and its teams as text.
#include "topo/draw.hpp"

#include <algorithm>
#include <cstdlib>

#include "topo/binding.hpp"
#include "topo/text.hpp"

namespace tutti::topo {

namespace {

constexpr int max_cores_shown = 16;   // a machine with more cores is drawn with ranges of cores
constexpr int max_teams_shown = 6;    // per level
constexpr int max_runs_shown = 12;    // per list of ranks

std::string counted(int count, std::string_view thing) {
    return std::to_string(count) + ' ' + std::string(thing) + (count == 1 ? "" : "s");
}

// A kind of node in the drawn tree.
enum class Box { socket, numa, l3, core };

int box_id(const Pu& pu, Box box) {
    switch (box) {
    case Box::socket: return pu.socket;
    case Box::numa: return pu.numa;
    case Box::l3: return pu.l3;
    case Box::core: break;
    }
    return pu.core;
}

std::string_view box_name(Box box) {
    static constexpr std::string_view names[] = {"socket", "NUMA node", "L3 cache", "core"};
    return names[static_cast<int>(box)];
}

// A stretch of a list with equal differences between neighbours, or a single entry.
struct Run {
    std::size_t length;
    int step;
};

Run run_at(const std::vector<int>& list, std::size_t begin) {
    if (begin + 1 == list.size()) return {1, 0};
    const int step = list[begin + 1] - list[begin];
    std::size_t end = begin + 2;
    while (end < list.size() && list[end] - list[end - 1] == step) ++end;
    // Any two numbers form a stretch. It is abbreviated if it has three consecutive numbers, or four at a larger step.
    const std::size_t length = end - begin;
    const bool worth = step == 1 ? length >= 3 : step > 1 && length >= 4;
    return worth ? Run{length, step} : Run{1, 0};
}

// Abbreviates ascending numbers: "0-7", "0 8 .. 56", "0 3 17".
std::string shortened(const std::vector<int>& list) {
    std::string text;
    int runs = 0;
    for (std::size_t i = 0; i < list.size();) {
        if (!text.empty()) text += ' ';
        if (++runs > max_runs_shown) return text + ".. (" + std::to_string(list.size()) + " in total)";
        const Run run = run_at(list, i);
        const std::string first = std::to_string(list[i]), last = std::to_string(list[i + run.length - 1]);
        if (run.length == 1) text += first;
        else if (run.step == 1) text += first + '-' + last;
        else text += first + ' ' + std::to_string(list[i] + run.step) + " .. " + last;
        i += run.length;
    }
    return text;
}

int rank_label(const DrawStyle& style, int rank) {
    return style.rank_numbers.empty() ? rank : style.rank_numbers[at(rank)];
}

// One line of the tree without its branches.
struct Line {
    std::string label;
    std::string cores;
    std::string ranks;
};

// Draws the machine as a tree. Columns are aligned at the end, when the widest label is known.
class Picture {
public:
    Picture(const Machine& machine, const Placement& placement, const Hierarchy& hierarchy, const DrawStyle& style)
        : machine_(machine), hierarchy_(hierarchy), style_(style), ranks_on_(machine.pus.size()) {
        for (int rank = 0; rank < hierarchy.size(); ++rank) ranks_on_[at(placement.pu[at(rank)])].push_back(rank);
        for (const Box box : {Box::socket, Box::numa, Box::l3, Box::core}) {
            const int count = count_of(box);
            const bool splits = boxes_.empty() ? count > 1 : count > count_of(boxes_.back());
            if (splits && (box != Box::core || count <= max_cores_shown)) boxes_.push_back(box);
        }
    }

    std::string text() {
        std::vector<int> all(machine_.pus.size());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
        add("node", all, boxes_.empty());
        branch("", all, 0);
        return aligned();
    }

private:
    int count_of(Box box) const {
        switch (box) {
        case Box::socket: return machine_.count(Level::socket);
        case Box::numa: return machine_.count(Level::numa);
        case Box::l3: return machine_.count(Level::l3);
        case Box::core: break;
        }
        return machine_.core_count();
    }

    // Returns the boxes of a kind within some units, in machine order.
    std::vector<std::vector<int>> inside(const std::vector<int>& units, Box box) const {
        std::vector<std::vector<int>> boxes;
        int last = -1;
        for (const int unit : units) {
            const int id = box_id(machine_.pus[at(unit)], box);
            if (boxes.empty() || id != last) boxes.emplace_back();
            boxes.back().push_back(unit);
            last = id;
        }
        return boxes;
    }

    void branch(const std::string& indent, const std::vector<int>& units, std::size_t depth) {
        if (depth == boxes_.size()) return;
        const auto boxes = inside(units, boxes_[depth]);
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            const bool last = i + 1 == boxes.size();
            const std::string_view turn = style_.utf8 ? (last ? "└─ " : "├─ ") : (last ? "`- " : "|- ");
            const std::string_view down = last ? "   " : (style_.utf8 ? "│  " : "|  ");
            const int id = box_id(machine_.pus[at(boxes[i][0])], boxes_[depth]);
            const std::string label = std::string(box_name(boxes_[depth])) + ' ' + std::to_string(id);
            add(indent + std::string(turn) + label, boxes[i], depth + 1 == boxes_.size());
            branch(indent + std::string(down), boxes[i], depth + 1);
        }
    }

    void add(std::string label, const std::vector<int>& units, bool innermost) {
        lines_.push_back({std::move(label), "", ""});
        if (!innermost) return;
        std::vector<int> cores;
        std::vector<int> ranks;
        for (const int unit : units) {
            const int core = machine_.pus[at(unit)].core;
            if (cores.empty() || cores.back() != core) cores.push_back(core);
            ranks.insert(ranks.end(), ranks_on_[at(unit)].begin(), ranks_on_[at(unit)].end());
        }
        std::sort(ranks.begin(), ranks.end());
        const bool is_core = !boxes_.empty() && boxes_.back() == Box::core;
        if (!is_core) lines_.back().cores = (cores.size() == 1 ? "core " : "cores ") + ranges(cores);
        lines_.back().ranks = ranks.empty() ? "no rank" : with_leaders(ranks);
    }

    // Prints leaders first, each with one star per team that it leads.
    std::string with_leaders(const std::vector<int>& ranks) const {
        std::vector<int> others;
        std::string text = ranks.size() == 1 ? "rank" : "ranks";
        for (const int rank : ranks) {
            const int stars = teams_led_by(rank);
            if (stars == 0) others.push_back(rank_label(style_, rank));
            else text += ' ' + std::to_string(rank_label(style_, rank)) + std::string(at(stars), '*');
        }
        return others.empty() ? text : text + ' ' + shortened(others);
    }

    // The topmost leader also gets a star for the outermost team, although there is no further level.
    int teams_led_by(int rank) const {
        int levels = 0;
        while (levels < hierarchy_.levels() && hierarchy_.team(levels, rank).is_leader) ++levels;
        return levels;
    }

    // Width on the screen: counts characters, because box characters are three bytes long.
    static std::size_t width(const std::string& text) {
        return at(static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; })));
    }

    std::string aligned() const {
        std::size_t label_width = 0, cores_width = 0;
        for (const Line& line : lines_) {
            if (line.ranks.empty()) continue;
            label_width = std::max(label_width, width(line.label));
            cores_width = std::max(cores_width, line.cores.size());
        }
        std::string text;
        for (const Line& line : lines_) {
            text += line.label;
            if (!line.ranks.empty()) {
                text += std::string(label_width - width(line.label) + 3, ' ') + line.cores;
                if (cores_width > 0) text += std::string(cores_width - line.cores.size() + 3, ' ');
                text += line.ranks;
            }
            text += '\n';
        }
        return text;
    }

    const Machine& machine_;
    const Hierarchy& hierarchy_;
    DrawStyle style_;
    std::vector<std::vector<int>> ranks_on_;   // per unit
    std::vector<Box> boxes_;
    std::vector<Line> lines_;
};

std::string heading(const Machine& machine, const Placement& placement, int ranks, bool bound_widely) {
    std::string text = machine.simulated ? "simulated machine \"" + machine.name + "\"" : machine.name;
    if (!machine.cpu.empty()) text += " (" + machine.cpu + ")";
    text += ": " + counted(machine.count(Level::socket), "socket") + ", " +
            counted(machine.count(Level::numa), "NUMA node") + ", " + counted(machine.core_count(), "core");
    const int threads = static_cast<int>(machine.pus.size());
    if (threads > machine.core_count()) text += ", " + counted(threads, "hardware thread");
    text += '\n' + counted(ranks, "rank");
    if (machine.simulated) return text + ", placed on its processing units\n";
    if (bound_widely) return text + ", bound to more units than shown; the positions are assumed\n";
    return text + (placement.fixed ? ", bound as shown\n" : ", not bound; the positions shown are assumed\n");
}

// "*0 1-7": the leader and the other members of a team.
std::string members_text(const Team& team, const DrawStyle& style) {
    std::vector<int> others;
    for (const int rank : team.members) {
        if (rank != team.leader) others.push_back(rank_label(style, rank));
    }
    return '*' + std::to_string(rank_label(style, team.leader)) + (others.empty() ? "" : ' ' + shortened(others));
}

std::string level_line(const Hierarchy& hierarchy, int level, std::size_t name_width, const DrawStyle& style) {
    const std::string& name = hierarchy.level_name(level);
    const int count = hierarchy.team_count(level);
    std::string text = "  " + name + std::string(name_width - name.size() + 2, ' ') + counted(count, "team") + ": ";
    if (count == 1) text += ' ';
    int shown = 0;
    for (int rank = 0; rank < hierarchy.size() && shown <= max_teams_shown; ++rank) {
        const Team team = hierarchy.team(level, rank);
        if (team.leader != rank) continue;
        if (shown > 0) text += " | ";
        if (++shown > max_teams_shown) text += "and " + std::to_string(count - max_teams_shown) + " more";
        else text += members_text(team, style);
    }
    return text + '\n';
}

std::string teams_text(const Hierarchy& hierarchy, const DrawStyle& style) {
    std::size_t name_width = 0;
    for (int level = 0; level < hierarchy.levels(); ++level) {
        name_width = std::max(name_width, hierarchy.level_name(level).size());
    }
    std::string text = "Teams, innermost level first (*: the leader, which takes part in the next level):\n";
    for (int level = 0; level < hierarchy.levels(); ++level) text += level_line(hierarchy, level, name_width, style);
    return text +
           "A rank has one * in the tree for every team it leads. In an operation with a root, the root leads\n"
           "every team that it is in.\n";
}

}   // namespace

std::string draw(const Machine& machine, const Placement& placement, const Hierarchy& hierarchy,
                 const DrawStyle& style) {
    const std::string tree = Picture(machine, placement, hierarchy, style).text();
    return heading(machine, placement, hierarchy.size(), style.bound_widely) + '\n' + tree + '\n' +
           teams_text(hierarchy, style);
}

bool locale_is_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name);
        if (!value || !*value) continue;
        const std::string locale = lower(value);
        return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    }
    return false;
}

}   // namespace tutti::topo
