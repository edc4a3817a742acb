// SPDX-License-Identifier: BSD-3-Clause
// From an affinity mask to processing units of the machine that the launcher described.
#include "runtime/restriction.hpp"

#include <algorithm>

#include "runtime/job/node_machine.hpp"
#include "topo/machine/usable.hpp"

namespace tutti {

topo::Restriction restriction(Process const& process) {
    topo::Machine const& described = process.node.machine;
    topo::Placement const& placement = process.node.placement;
    if (described.pretended && process.place() < placement.pu.size()) {
        auto const place = static_cast<std::size_t>(placement.pu[process.place()]);
        return topo::restriction(described, {&described.pus[place], 1});
    }
    std::vector<int> const numbers = topo::affinity_pus();
    topo::Machine const machine = described.pus.empty() ? NodeMachine().reduced_to(numbers) : described;
    std::vector<topo::Pu> pus;
    for (topo::Pu const& pu : machine.pus)
        if (std::ranges::find(numbers, pu.os) != numbers.end()) pus.push_back(pu);
    if (pus.size() == numbers.size()) return topo::restriction(machine, pus);
    topo::Restriction none;
    none.fill(-1);
    none.front() = 0;   // the node
    return none;
}

}   // namespace tutti
