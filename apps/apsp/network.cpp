// SPDX-License-Identifier: BSD-3-Clause
// The road network, and the plain computation of its distances.
#include "network.hpp"


#include <algorithm>

namespace apsp {
namespace {

constexpr std::uint32_t no_road = 1u << 30;   // longer than any path

}   // namespace

wide void Network::roads_from(int junction, double* times) const {
    // Half of the roads exist; the mixing is Knuth's multiplicative hash over both ends and the scenario.
    const std::uint32_t seed = (std::uint32_t(junction) * 40503u + std::uint32_t(scenario)) * 2654435761u;
    for (int vertex = 0; vertex < vertices; ++vertex) {
        std::uint32_t mixed = (std::uint32_t(vertex) + seed) * 2654435761u;
        mixed = (mixed ^ (mixed >> 15)) * 2246822519u;
        // Without a branch, because a random condition would be mispredicted: the highest bit moves to the bit of
        // no_road.
        times[vertex] = double(int((1 + (mixed >> 10) % 1024) | (mixed >> 31) * no_road));
    }
    // A ring road connects the junctions and every dead end has one certain road, so every vertex is reachable.
    times[(junction + 1) % junctions] = std::min(times[(junction + 1) % junctions], 1024.0);
    for (int vertex = junctions + junction; vertex < vertices; vertex += junctions)
        times[vertex] = std::min(times[vertex], 1024.0);
    times[junction] = 0;
}

std::vector<double> plain_floyd_warshall(Network const& network) {
    const std::size_t n = std::size_t(network.vertices);
    std::vector<double> distance(n * n, no_road);
    for (std::size_t i = 0; i < n; ++i) distance[i * n + i] = 0;
    for (int i = 0; i < network.junctions; ++i) network.roads_from(i, &distance[std::size_t(i) * n]);
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                distance[i * n + j] = std::min(distance[i * n + j], distance[i * n + k] + distance[k * n + j]);
    distance.resize(std::size_t(network.junctions) * n);
    return distance;
}

}   // namespace apsp
