// SPDX-License-Identifier: BSD-3-Clause
// Balanced dimensions, grid arithmetic, checks of graphs, and the matching of edges.
#include "runtime/objects/virtual_topology.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "runtime/base/error.hpp"

// Balanced grid sizes by a search over divisors. With smallest factor m, the largest of k factors is at least the
// (k−1)-th root of n/m, so few values of m need to be tried. For each m, largest factors are tried in increasing order
// until the remaining factors fit in between.

namespace tutti {
namespace {

using Factor = std::int64_t;

/// Returns base^exponent, or a value above any int if it is larger.
Factor power(Factor base, int exponent) {
    constexpr Factor enough = Factor{1} << 31;
    Factor result = 1;
    for (int i = 0; i < exponent && result < enough; ++i) result *= base;
    return std::min(result, enough);
}

std::vector<Factor> divisors_of(Factor n) {
    std::vector<Factor> low, high;
    for (Factor d = 1; d * d <= n; ++d) {
        if (n % d != 0) continue;
        low.push_back(d);
        if (d != n / d) high.push_back(n / d);
    }
    low.insert(low.end(), high.rbegin(), high.rend());
    return low;
}

class Search {
public:
    Search(Factor n, int k) : n_(n), k_(k), divisors_(divisors_of(n)), best_(static_cast<std::size_t>(k)) {}

    /// Returns the best k factors of n, non-increasing.
    std::vector<int> run() {
        for (auto smallest = divisors_.rbegin(); smallest != divisors_.rend(); ++smallest) {
            if (power(*smallest, k_) > n_) continue;
            if (cannot_improve(*smallest)) break;
            try_smallest(*smallest);
        }
        return best_;
    }

private:
    /// Returns true if no solution with this smallest factor, or with a smaller one, improves on the best: the smaller
    /// the smallest factor, the larger the largest must be.
    bool cannot_improve(Factor smallest) const {
        Factor enough = smallest + difference_ - 1;   // the largest factor that would be an improvement
        return k_ > 1 && difference_ != none && power(enough, k_ - 1) < n_ / smallest;
    }

    void try_smallest(Factor smallest) {
        std::vector<int> factors(static_cast<std::size_t>(k_));
        factors.back() = static_cast<int>(smallest);
        if (k_ == 1) {
            if (smallest == n_) best_ = factors;
            return;
        }
        for (Factor largest : divisors_) {
            if (largest < smallest || power(largest, k_ - 1) < n_ / smallest) continue;
            if (largest - smallest >= difference_) return;
            factors.front() = static_cast<int>(largest);
            if (n_ / smallest % largest == 0 && fill(factors, k_ - 2, n_ / smallest / largest)) {
                difference_ = largest - smallest;
                best_ = factors;
                return;
            }
        }
    }

    /// Fills positions from `position` down to 1 with factors of `rest`, the greatest possible first.
    bool fill(std::vector<int>& factors, int position, Factor rest) const {
        if (position <= 0) return rest == 1;
        Factor low = factors[static_cast<std::size_t>(position) + 1], high = factors.front();
        for (auto d = divisors_.rbegin(); d != divisors_.rend() && *d >= low; ++d) {
            if (*d > high || rest % *d != 0 || power(*d, position) > rest || power(high, position - 1) < rest / *d)
                continue;
            factors[static_cast<std::size_t>(position)] = static_cast<int>(*d);
            if (fill(factors, position - 1, rest / *d)) return true;
        }
        return false;
    }

    static constexpr Factor none = std::numeric_limits<int>::max();

    Factor const n_;
    int const k_;
    std::vector<Factor> const divisors_;
    std::vector<int> best_;
    Factor difference_ = none;
};

}   // namespace

void balance_dims(int nodes, std::span<int> dims) {
    if (nodes < 1) fail(ErrorClass::arg, "nnodes is ", nodes, " but must be at least 1");
    Factor given = 1;
    int open = 0;
    for (int d : dims) {
        if (d < 0) fail(ErrorClass::dims, "dims contains ", d, ": must be 0 (to be chosen) or more");
        if (d == 0) ++open;
        else given = std::min(given * d, Factor{1} << 32);
    }
    if (nodes % given != 0 || (open == 0 && given != nodes))
        fail(ErrorClass::dims, "the product of the given dimensions is ", given,
             ", which does not fit nnodes = ", nodes);
    if (open == 0) return;
    std::vector<int> chosen = Search(nodes / given, open).run();
    auto next = chosen.begin();
    for (int& d : dims)
        if (d == 0) d = *next++;
}

// The peer at the other end of each edge, and the number of the edge there.

namespace {

constexpr int no_rank = -1;   // MPI_PROC_NULL

/// The edges that one process knows: the peer at the other end of each, and for incoming edges their number there.
struct Ends {
    std::vector<int> sources, destinations;
    std::vector<DistGraphTopology::SourceEdge> source_edges;   ///< for each source
};

Ends ends_of(CartTopology const& grid, int) {
    Ends e;
    int const degree = 2 * static_cast<int>(grid.dims.size());
    for (int k = 0; k < degree; ++k) {
        e.sources.push_back(grid.shifted(k / 2, k % 2 ? 1 : -1).value_or(no_rank));
        e.source_edges.push_back({k ^ 1, degree});
    }
    e.destinations = e.sources;
    return e;
}

Ends ends_of(GraphTopology const& graph, int rank) {
    auto const own_neighbors = graph.neighbors(rank);
    Ends e{{own_neighbors.begin(), own_neighbors.end()}, {own_neighbors.begin(), own_neighbors.end()}, {}};
    std::map<int, std::vector<int>> unmatched;   // unmatched indices of this rank among the peer's neighbours
    for (int peer : own_neighbors) {
        auto const peer_neighbors = graph.neighbors(peer);
        auto const [found, fresh] = unmatched.try_emplace(peer);
        std::vector<int>& open = found->second;
        for (std::size_t k = peer_neighbors.size(); fresh && k-- > 0;)
            if (peer_neighbors[k] == rank) open.push_back(static_cast<int>(k));
        if (open.empty()) break;
        e.source_edges.push_back({open.back(), static_cast<int>(peer_neighbors.size())});
        open.pop_back();
    }
    if (e.source_edges.size() != own_neighbors.size() ||
        std::ranges::count(graph.edges, rank) != std::ssize(own_neighbors))
        fail(ErrorClass::topology, "the graph is not symmetric: the edges from rank ", rank,
             " differ from the edges to it");
    return e;
}

Ends ends_of(DistGraphTopology const& graph, int rank) {
    if (graph.mismatched_rank >= 0)
        fail(ErrorClass::topology, "rank ", graph.mismatched_rank, " and rank ", rank,
             " list different numbers of edges between them: its destinations do not match this rank's sources");
    return {graph.sources, graph.destinations, graph.source_edges};
}

}   // namespace

std::unique_ptr<Neighborhood const> Neighborhood::of(VirtualTopology const& topology, int rank, int size) {
    Ends const ends = std::visit([&](auto const& kind) { return ends_of(kind, rank); }, topology);
    struct Lists {
        int out_degree = 0;
        std::vector<Edge> in;
        std::vector<int> out;
    };
    std::map<int, Lists> by_distance;   // (peer − rank) mod size; this rank itself comes first
    auto const lists = [&](int peer) -> Lists& { return by_distance[(peer - rank + size) % size]; };
    for (std::size_t k = 0; k < ends.sources.size(); ++k) {
        if (ends.sources[k] == no_rank) continue;
        Lists& with = lists(ends.sources[k]);
        with.in.push_back({static_cast<int>(k), ends.source_edges[k].index});
        with.out_degree = ends.source_edges[k].out_degree;
    }
    for (std::size_t k = 0; k < ends.destinations.size(); ++k)
        if (ends.destinations[k] != no_rank) lists(ends.destinations[k]).out.push_back(static_cast<int>(k));

    std::unique_ptr<Neighborhood> result(new Neighborhood);
    result->in_degree_ = static_cast<int>(ends.sources.size());
    result->out_degree_ = static_cast<int>(ends.destinations.size());
    result->in_.reserve(ends.sources.size());
    result->out_.reserve(ends.destinations.size());
    for (auto& [distance, with] : by_distance) {
        std::ranges::sort(with.in, {}, &Edge::peer_index);
        if (distance == 0) {
            result->self_edges_ = with.in;
            continue;
        }
        auto const in = result->in_.insert(result->in_.end(), with.in.begin(), with.in.end());
        auto const out = result->out_.insert(result->out_.end(), with.out.begin(), with.out.end());
        result->peers_.push_back(
            {(rank + distance) % size, with.out_degree, {in, with.in.size()}, {out, with.out.size()}});
    }
    return result;
}

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
            fail(ErrorClass::arg, "index[", i, "] is ", value, " but must be at least ", before,
                 ": index contains cumulative degrees");
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
