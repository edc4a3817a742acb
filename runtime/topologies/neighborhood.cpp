// SPDX-License-Identifier: BSD-3-Clause
// Who is at the other end of each edge, and what number it has there.
#include "runtime/topologies/neighborhood.hpp"

#include <algorithm>
#include <map>

#include "runtime/base/error.hpp"

namespace tutti {
namespace {

constexpr int nobody = -1;   // MPI_PROC_NULL

/// What one process knows of its edges: the other end of each, and of those that come in more.
struct Ends {
    std::vector<int> sources, destinations;
    std::vector<DistGraphTopology::Meeting> meetings;   ///< of each source
};

Ends ends_of(CartTopology const& grid, int) {
    Ends e;
    int const degree = 2 * static_cast<int>(grid.dims.size());
    for (int k = 0; k < degree; ++k) {
        e.sources.push_back(grid.shifted(k / 2, k % 2 ? 1 : -1).value_or(nobody));
        e.meetings.push_back({k ^ 1, degree});
    }
    e.destinations = e.sources;
    return e;
}

Ends ends_of(GraphTopology const& graph, int rank) {
    auto const mine = graph.neighbors(rank);
    Ends e{{mine.begin(), mine.end()}, {mine.begin(), mine.end()}, {}};
    std::map<int, std::vector<int>> places;   // of this rank among a neighbour's neighbours, those not met yet
    for (int peer : mine) {
        auto const theirs = graph.neighbors(peer);
        auto const [found, fresh] = places.try_emplace(peer);
        std::vector<int>& open = found->second;
        for (std::size_t k = theirs.size(); fresh && k-- > 0;)
            if (theirs[k] == rank) open.push_back(static_cast<int>(k));
        if (open.empty()) break;
        e.meetings.push_back({open.back(), static_cast<int>(theirs.size())});
        open.pop_back();
    }
    if (e.meetings.size() != mine.size() || std::ranges::count(graph.edges, rank) != std::ssize(mine))
        fail(ErrorClass::topology, "the graph has not as many edges from rank ", rank, " to each other as back");
    return e;
}

Ends ends_of(DistGraphTopology const& graph, int rank) {
    if (graph.disagrees >= 0)
        fail(ErrorClass::topology, "rank ", graph.disagrees, " has not rank ", rank,
             " among its destinations as often as it is among this rank's sources");
    return {graph.sources, graph.destinations, graph.meetings};
}

}   // namespace

std::unique_ptr<Neighborhood const> Neighborhood::of(VirtualTopology const& topology, int rank, int size) {
    Ends const ends = std::visit([&](auto const& kind) { return ends_of(kind, rank); }, topology);
    struct Lists {
        int out_degree = 0;
        std::vector<Edge> in;
        std::vector<int> out;
    };
    std::map<int, Lists> by_distance;   // behind this rank; the rank itself comes first
    auto const lists = [&](int peer) -> Lists& { return by_distance[(peer - rank + size) % size]; };
    for (std::size_t k = 0; k < ends.sources.size(); ++k) {
        if (ends.sources[k] == nobody) continue;
        Lists& with = lists(ends.sources[k]);
        with.in.push_back({static_cast<int>(k), ends.meetings[k].place});
        with.out_degree = ends.meetings[k].out_degree;
    }
    for (std::size_t k = 0; k < ends.destinations.size(); ++k)
        if (ends.destinations[k] != nobody) lists(ends.destinations[k]).out.push_back(static_cast<int>(k));

    std::unique_ptr<Neighborhood> made(new Neighborhood);
    made->in_degree_ = static_cast<int>(ends.sources.size());
    made->out_degree_ = static_cast<int>(ends.destinations.size());
    made->in_.reserve(ends.sources.size());
    made->out_.reserve(ends.destinations.size());
    for (auto& [distance, with] : by_distance) {
        std::ranges::sort(with.in, {}, &Edge::theirs);
        if (distance == 0) {
            made->own_ = with.in;
            continue;
        }
        auto const in = made->in_.insert(made->in_.end(), with.in.begin(), with.in.end());
        auto const out = made->out_.insert(made->out_.end(), with.out.begin(), with.out.end());
        made->peers_.push_back(
            {(rank + distance) % size, with.out_degree, {in, with.in.size()}, {out, with.out.size()}});
    }
    return made;
}

}   // namespace tutti
