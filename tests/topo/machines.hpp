// SPDX-License-Identifier: BSD-3-Clause
// Simulated machines for the tests, built by hand so that they do not depend on hwloc.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "topo/hierarchy.hpp"
#include "topo/machine.hpp"

namespace tutti::topo {

// The number of units of each kind inside one unit of the kind before it.
struct Shape {
    int sockets = 1;
    int numas = 1;
    int l3s = 1;
    int l2s = 1;
    int cores = 1;
    int threads = 1;
};

inline Machine make_machine(Shape shape) {
    Machine machine;
    machine.name = "a test's machine";
    machine.simulated = true;
    const int l2s_in_all = shape.sockets * shape.numas * shape.l3s * shape.l2s;
    for (int core = 0; core < l2s_in_all * shape.cores; ++core) {
        for (int thread = 0; thread < shape.threads; ++thread) {
            Pu pu{.os = core * shape.threads + thread, .core = core};
            pu.l2 = core / shape.cores;
            pu.l3 = pu.l2 / shape.l2s;
            pu.numa = pu.l3 / shape.l3s;
            pu.socket = pu.numa / shape.numas;
            machine.pus.push_back(pu);
        }
    }
    return machine;
}

// 2 sockets of 4 NUMA nodes of 8 cores with an L2 each: the design's example.
inline Machine design_machine() { return make_machine({.sockets = 2, .numas = 4, .l2s = 8}); }

// The same units, with the units of each kind numbered from 0. hwloc also numbers units outside the affinity mask.
inline std::vector<Pu> numbered_from_zero(std::vector<Pu> pus) {
    for (int Pu::*const kind : {&Pu::core, &Pu::l2, &Pu::l3, &Pu::numa, &Pu::socket}) {
        std::map<int, int> numbers;
        for (const Pu& pu : pus) numbers.try_emplace(pu.*kind, 0);
        int next = 0;
        for (auto& [number, from_zero] : numbers) from_zero = next++;
        for (Pu& pu : pus) pu.*kind = numbers.at(pu.*kind);
    }
    return pus;
}

inline std::vector<int> first_ranks(int count) {
    std::vector<int> ranks(static_cast<std::size_t>(count));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

inline std::vector<int> shuffled(std::vector<int> list, unsigned seed) {
    std::mt19937 random(seed);
    std::shuffle(list.begin(), list.end(), random);
    return list;
}

inline std::vector<int> list_of(const TeamMembers& members) { return {members.begin(), members.end()}; }
inline std::vector<int> list_of(std::span<const int> ranks) { return {ranks.begin(), ranks.end()}; }

}   // namespace tutti::topo
