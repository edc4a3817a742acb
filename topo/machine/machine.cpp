// SPDX-License-Identifier: BSD-3-Clause
// Counting on a Machine, and the assumption where ranks are that nobody has bound.
#include "topo/machine/machine.hpp"

#include <algorithm>

namespace tutti::topo {

namespace {

template <class Key>
int distinct(const std::vector<Pu>& pus, Key key) {
    std::vector<int> ids;
    ids.reserve(pus.size());
    for (const Pu& pu : pus) ids.push_back(key(pu));
    std::sort(ids.begin(), ids.end());
    return static_cast<int>(std::unique(ids.begin(), ids.end()) - ids.begin());
}

// Index of the first unit of every core, in machine order.
std::vector<int> first_unit_of_cores(const Machine& machine) {
    std::vector<int> firsts;
    for (std::size_t i = 0; i < machine.pus.size(); ++i) {
        const bool new_core = i == 0 || machine.pus[i].core != machine.pus[i - 1].core;
        if (new_core) firsts.push_back(static_cast<int>(i));
    }
    return firsts;
}

}   // namespace

std::string_view name_of(Level level) {
    static constexpr std::string_view names[level_count] = {"l2", "l3", "numa", "socket", "node"};
    return names[static_cast<int>(level)];
}

int Pu::at(Level level) const {
    switch (level) {
    case Level::l2: return l2;
    case Level::l3: return l3;
    case Level::numa: return numa;
    case Level::socket: return socket;
    case Level::node: break;
    }
    return 0;
}

Caches Caches::without_unknowns() const {
    Caches known = *this;
    if (known.last_level_size == 0) known.last_level_size = assumed_last_level_size;
    if (known.private_size == 0) known.private_size = std::min(assumed_private_size, known.last_level_size);
    return known;
}

int Machine::count(Level level) const {
    return distinct(pus, [level](const Pu& pu) { return pu.at(level); });
}

int Machine::core_count() const {
    return distinct(pus, [](const Pu& pu) { return pu.core; });
}

void Machine::complete_caches() {
    const auto complete = [this](int Pu::*const cache, int Pu::*const otherwise) {
        if (std::ranges::none_of(pus, [&](const Pu& pu) { return pu.*cache < 0; })) return;
        for (Pu& pu : pus) pu.*cache = pu.*otherwise;
    };
    complete(&Pu::l2, &Pu::core);
    complete(&Pu::l3, &Pu::socket);
}

Machine Machine::plain(std::span<const int> os_numbers) {
    Machine machine;
    machine.name = "this machine";
    for (const int os : os_numbers) {
        const int core = static_cast<int>(machine.pus.size());
        machine.pus.push_back({.os = os, .core = core, .l2 = core});
    }
    if (machine.pus.empty()) machine.pus.emplace_back();
    return machine;
}

Placement place_in_order(const Machine& machine, int ranks) {
    Placement placement;
    placement.fixed = machine.pretended;
    placement.pu.reserve(static_cast<std::size_t>(ranks));
    const std::vector<int> cores = first_unit_of_cores(machine);
    const bool one_each = ranks <= static_cast<int>(cores.size());
    for (int rank = 0; rank < ranks; ++rank) {
        const auto spread = static_cast<long>(rank) * static_cast<long>(machine.pus.size()) / ranks;
        placement.pu.push_back(one_each ? cores[static_cast<std::size_t>(rank)] : static_cast<int>(spread));
    }
    return placement;
}

}   // namespace tutti::topo
