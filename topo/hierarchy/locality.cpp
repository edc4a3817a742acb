// SPDX-License-Identifier: BSD-3-Clause
// What lies between two ranks, by where they are on the machine and whatever levels an algorithm follows.
#include "topo/hierarchy/hierarchy.hpp"

namespace tutti::topo {

std::string_view name_of(Locality locality) {
    switch (locality) {
    case Locality::cache: return "cache";
    case Locality::numa: return "numa";
    case Locality::socket: return "socket";
    case Locality::machine: return "node";
    case Locality::network: break;
    }
    return "network";
}

std::vector<Locality> localities(const Machine& machine, const Placement& placement, std::span<const int> node_ranks,
                                 int from) {
    auto unit_of = [&](int rank) -> const Pu& {
        const int node_rank = node_ranks[static_cast<std::size_t>(rank)];
        return machine.pus[static_cast<std::size_t>(placement.pu[static_cast<std::size_t>(node_rank)])];
    };
    // A cache that is as wide as a NUMA node or a socket, or wider, is their affair. Where none is described, the
    // socket stands for it (topo/machine/detect.cpp).
    const int l3s = machine.count(Level::l3);
    const bool l3_divides = l3s > machine.count(Level::numa) && l3s > machine.count(Level::socket);
    const Pu& mine = unit_of(from);
    std::vector<Locality> all;
    for (int rank = 0; rank < static_cast<int>(node_ranks.size()); ++rank) {
        const Pu& other = unit_of(rank);
        const bool cache = mine.core == other.core || mine.l2 == other.l2 || (l3_divides && mine.l3 == other.l3);
        // Descriptions without NUMA nodes have one for all sockets.
        all.push_back(cache                         ? Locality::cache
                      : mine.socket != other.socket ? Locality::machine
                      : mine.numa != other.numa     ? Locality::socket
                                                    : Locality::numa);
    }
    return all;
}

}   // namespace tutti::topo
