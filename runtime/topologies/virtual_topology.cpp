// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of grids and checks of graphs.
#include "runtime/topologies/virtual_topology.hpp"

#include "runtime/base/error.hpp"

namespace tutti {

CartTopology CartTopology::make(std::span<int const> dims, std::vector<bool> periodic, int available, int rank) {
    std::int64_t points = 1;
    for (int d : dims) {
        if (d <= 0) fail(ErrorClass::dims, "dims contains ", d, " but a dimension has at least 1 point");
        points *= d;
        if (points > available)
            fail(ErrorClass::dims, "the grid has more points than the communicator's ", available, " ranks");
    }
    CartTopology grid{{dims.begin(), dims.end()}, std::move(periodic), {}};
    if (rank >= 0 && rank < points) grid.coords = grid.coords_of(rank);
    return grid;
}

int CartTopology::size() const {
    int points = 1;
    for (int d : dims) points *= d;
    return points;
}

int CartTopology::rank_at(std::span<int const> at) const {
    int rank = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        int c = at[i];
        if (c < 0 || c >= dims[i]) {
            if (!periodic[i])
                fail(ErrorClass::arg, "coords[", i, "] is ", c, " but dimension ", i, " has ", dims[i],
                     " points and is not periodic");
            c = (c % dims[i] + dims[i]) % dims[i];
        }
        rank = rank * dims[i] + c;
    }
    return rank;
}

std::vector<int> CartTopology::coords_of(int rank) const {
    std::vector<int> at(dims.size());
    for (std::size_t i = dims.size(); i-- > 0; rank /= dims[i]) at[i] = rank % dims[i];
    return at;
}

std::optional<int> CartTopology::shifted(int dimension, std::int64_t distance) const {
    auto d = static_cast<std::size_t>(dimension);
    std::int64_t n = dims[d], to = coords[d] + distance;
    if (!periodic[d] && (to < 0 || to >= n)) return std::nullopt;
    std::vector<int> at = coords;
    at[d] = static_cast<int>((to % n + n) % n);
    return rank_at(at);
}

CartTopology CartTopology::sub(std::vector<bool> const& remain) const {
    CartTopology part;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (!remain[i]) continue;
        part.dims.push_back(dims[i]);
        part.periodic.push_back(periodic[i]);
        part.coords.push_back(coords[i]);
    }
    return part;
}

int CartTopology::sub_index(std::vector<bool> const& remain, int rank) const {
    std::vector<int> at = coords_of(rank);
    int index = 0;
    for (std::size_t i = 0; i < dims.size(); ++i)
        if (!remain[i]) index = index * dims[i] + at[i];
    return index;
}

GraphTopology GraphTopology::make(std::span<int const> index, int const* edges, int available) {
    int nodes = static_cast<int>(index.size());
    if (nodes > available)
        fail(ErrorClass::dims, "the graph has ", nodes, " nodes but the communicator ", available, " ranks");
    int before = 0;
    for (int i = 0; i < nodes; ++i) {
        int value = index[static_cast<std::size_t>(i)];
        if (value < before)
            fail(ErrorClass::arg, "index[", i, "] is ", value, ": degrees add up, so it must be at least ", before);
        before = value;
    }
    if (before > 0 && !edges) fail(ErrorClass::arg, "edges is a null pointer");
    for (int i = 0; i < before; ++i)
        if (edges[i] < 0 || edges[i] >= nodes)
            fail(ErrorClass::arg, "edges[", i, "] is ", edges[i], " but the graph's nodes are 0 to ", nodes - 1);
    return {{index.begin(), index.end()}, {edges, edges + before}};
}

std::span<int const> GraphTopology::neighbors(int rank) const {
    auto r = static_cast<std::size_t>(rank);
    int from = rank == 0 ? 0 : index[r - 1];
    return std::span(edges).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(index[r] - from));
}

}   // namespace tutti
