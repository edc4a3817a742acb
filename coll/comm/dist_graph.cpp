// SPDX-License-Identifier: BSD-3-Clause
// Distributed graphs: one exchange when all give about as many edges, otherwise one broadcast per giver.
#include "coll/comm/dist_graph.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>

#include "coll/call/bytes.hpp"

namespace tutti::coll {
namespace {

using Counts = std::vector<std::uint64_t>;

std::vector<Edge> gather_even(Comm& comm, std::vector<Edge> mine, Counts const& counts, std::uint64_t most) {
    mine.resize(most);
    std::vector<Edge> padded(most * counts.size()), all;
    allgather_bytes(comm, mine.data(), most * sizeof(Edge), padded.data());
    for (std::size_t r = 0; r < counts.size(); ++r) {
        auto from = padded.begin() + static_cast<std::ptrdiff_t>(r * most);
        all.insert(all.end(), from, from + static_cast<std::ptrdiff_t>(counts[r]));
    }
    return all;
}

std::vector<Edge> gather_uneven(Comm& comm, std::vector<Edge> const& mine, Counts const& counts) {
    std::vector<Edge> all;
    for (std::size_t r = 0; r < counts.size(); ++r) {
        if (counts[r] == 0) continue;
        std::vector<Edge> piece = mine;
        piece.resize(counts[r]);
        bcast_bytes(comm, piece.data(), piece.size() * sizeof(Edge), static_cast<int>(r));
        all.insert(all.end(), piece.begin(), piece.end());
    }
    return all;
}

/// The edges that all give, in the order of the givers.
std::vector<Edge> gather(Comm& comm, std::vector<Edge> const& mine) {
    std::uint64_t count = mine.size();
    Counts counts(static_cast<std::size_t>(comm.size()));
    allgather_bytes(comm, &count, sizeof count, counts.data());
    std::uint64_t most = *std::ranges::max_element(counts), total = 0;
    for (std::uint64_t c : counts) total += c;
    bool even = most * counts.size() <= 2 * total;
    return even ? gather_even(comm, mine, counts, most) : gather_uneven(comm, mine, counts);
}

}   // namespace

DistGraphTopology exchange_edges(Comm& comm, std::vector<Edge> const& mine, bool weighted) {
    DistGraphTopology graph;
    graph.weighted = weighted;
    for (Edge const& e : gather(comm, mine)) {
        if (e.destination == comm.rank()) {
            graph.sources.push_back(e.source);
            if (weighted) graph.source_weights.push_back(e.weight);
        }
        if (e.source == comm.rank()) {
            graph.destinations.push_back(e.destination);
            if (weighted) graph.destination_weights.push_back(e.weight);
        }
    }
    return graph;
}

void meet(Comm& comm, DistGraphTopology& graph) {
    std::vector<Edge> mine;
    for (int destination : graph.destinations) mine.push_back({comm.rank(), destination, 0});
    std::vector<int> degrees(static_cast<std::size_t>(comm.size()));
    std::map<int, std::deque<int>> places;   // of this rank among each source's destinations
    for (Edge const& e : gather(comm, mine)) {
        int const place = degrees[static_cast<std::size_t>(e.source)]++;
        if (e.destination == comm.rank()) places[e.source].push_back(place);
    }
    for (int source : graph.sources) {
        std::deque<int>& open = places[source];
        if (open.empty()) graph.disagrees = source;
        graph.meetings.push_back({open.empty() ? 0 : open.front(), degrees[static_cast<std::size_t>(source)]});
        if (!open.empty()) open.pop_front();
    }
    for (auto const& [source, open] : places)
        if (!open.empty()) graph.disagrees = source;
}

}   // namespace tutti::coll
