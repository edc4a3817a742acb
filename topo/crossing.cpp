// SPDX-License-Identifier: BSD-3-Clause
// What lies between two ranks, by where they are on the machine and whatever levels an algorithm follows.
#include "topo/hierarchy.hpp"

namespace tutti::topo {

std::string_view name_of(Crossing crossing) {
    switch (crossing) {
    case Crossing::cache: return "cache";
    case Crossing::numa: return "numa";
    case Crossing::socket: return "socket";
    case Crossing::node: return "node";
    case Crossing::network: break;
    }
    return "network";
}

std::vector<Crossing> crossings(const Machine& machine, const Placement& placement, std::span<const int> node_ranks,
                                int from) {
    auto unit_of = [&](int rank) -> const Pu& {
        const int node_rank = node_ranks[static_cast<std::size_t>(rank)];
        return machine.pus[static_cast<std::size_t>(placement.pu[static_cast<std::size_t>(node_rank)])];
    };
    // A cache that is as wide as a NUMA node or a socket, or wider, is their affair. Where none is described, the
    // socket stands for it (topo/detect.cpp).
    const int l3s = machine.count(Level::l3);
    const bool l3_divides = l3s > machine.count(Level::numa) && l3s > machine.count(Level::socket);
    const Pu& mine = unit_of(from);
    std::vector<Crossing> all;
    for (int rank = 0; rank < static_cast<int>(node_ranks.size()); ++rank) {
        const Pu& other = unit_of(rank);
        const bool cache = mine.core == other.core || mine.l2 == other.l2 || (l3_divides && mine.l3 == other.l3);
        // Descriptions without NUMA nodes have one for all sockets.
        all.push_back(cache                         ? Crossing::cache
                      : mine.socket != other.socket ? Crossing::node
                      : mine.numa != other.numa     ? Crossing::socket
                                                    : Crossing::numa);
    }
    return all;
}

}  // namespace tutti::topo
