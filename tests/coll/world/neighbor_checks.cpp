// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of a case of a neighbourhood collective. The case determines the topology: rings, grids, graphs, and
// random directed graphs with duplicates, self-edges and ranks without edges.
#include "runtime/objects/virtual_topology.hpp"
#include "tests/coll/world/checks.hpp"

namespace tutti::coll::test {
namespace {

/// The topologies of all ranks, and a plain search for the outgoing edge that matches an incoming one.
class CaseTopologies {
public:
    CaseTopologies(Case const& c, int ranks) : ranks_(ranks), random_(c.seed * 2654435761u + 1), many_(c.bytes <= 64) {
        switch (c.seed / 3 % 6) {
        case 0: make_grid({ranks}, {true}); break;
        case 1: make_grid({2, ranks / 2}, {true, c.seed % 2 == 0}, ranks % 2 == 0); break;
        case 2: make_grid({1, ranks, 1}, {true, false, c.seed % 2 == 0}); break;
        case 3: make_graph(); break;
        default: make_directed(c.seed % 2 == 0);
        }
    }

    VirtualTopology const& topology(int rank) const { return topologies_[static_cast<std::size_t>(rank)]; }
    std::vector<int> const& sources(int rank) const { return sources_[static_cast<std::size_t>(rank)]; }
    std::vector<int> const& destinations(int rank) const { return destinations_[static_cast<std::size_t>(rank)]; }
    /// The number, at its source, of the edge that is the k-th incoming one of `rank`.
    int place(int rank, int k) const {
        if (grid_) return k ^ 1;
        auto const& in = sources(rank);
        int const source = in[static_cast<std::size_t>(k)];
        auto earlier = std::count(in.begin(), in.begin() + k, source);
        auto const& out = destinations(source);
        for (int at = 0;; ++at)
            if (out[static_cast<std::size_t>(at)] == rank && earlier-- == 0) return at;
    }

private:
    int next(int below) {
        random_ = random_ * 1103515245u + 12345u;
        return static_cast<int>((random_ >> 16) % static_cast<unsigned>(below));
    }
    void make_grid(std::vector<int> dims, std::vector<bool> periodic, bool fits = true) {
        if (!fits) dims = {ranks_}, periodic.resize(1);
        grid_ = true;
        for (int r = 0; r < ranks_; ++r) {
            CartTopology grid = CartTopology::make(dims, periodic, ranks_, r);
            std::vector<int> all;
            for (int k = 0; k < 2 * static_cast<int>(dims.size()); ++k)
                all.push_back(grid.shifted(k / 2, k % 2 ? 1 : -1).value_or(-1));
            sources_.push_back(all);
            destinations_.push_back(all);
            topologies_.emplace_back(std::move(grid));
        }
    }
    /// Each edge has its reverse edge; some edges are duplicates, some self-edges.
    void make_graph() {
        std::vector<std::vector<int>> edges(static_cast<std::size_t>(ranks_));
        for (int i = 0; i < 2 * ranks_; ++i) {
            int const a = next(ranks_), b = next(ranks_);
            edges[static_cast<std::size_t>(a)].push_back(b);
            if (a != b) edges[static_cast<std::size_t>(b)].push_back(a);
        }
        GraphTopology graph;
        for (auto const& of_one : edges) {
            graph.edges.insert(graph.edges.end(), of_one.begin(), of_one.end());
            graph.index.push_back(static_cast<int>(graph.edges.size()));
        }
        sources_ = destinations_ = edges;
        topologies_.assign(edges.size(), graph);
    }
    /// `many_edges`: with small blocks, so many edges that their table does not fit into a slot.
    void make_directed(bool many_edges) {
        sources_.resize(static_cast<std::size_t>(ranks_));
        destinations_ = sources_;
        int const edges = many_edges && many_ && ranks_ <= 4 ? 400 * ranks_ : 3 * ranks_;
        for (int i = 0; i < edges; ++i) {
            int const from = next(ranks_), to = next(std::max(1, ranks_ - 1));   // the last rank has no incoming edges
            destinations_[static_cast<std::size_t>(from)].push_back(to);
            sources_[static_cast<std::size_t>(to)].insert(
                sources_[static_cast<std::size_t>(to)].begin() +
                    next(static_cast<int>(sources_[static_cast<std::size_t>(to)].size()) + 1),
                from);
        }
        for (int r = 0; r < ranks_; ++r) {
            DistGraphTopology graph;
            graph.sources = sources(r);
            graph.destinations = destinations(r);
            for (int k = 0; k < static_cast<int>(graph.sources.size()); ++k) {
                int const source = graph.sources[static_cast<std::size_t>(k)];
                graph.source_edges.push_back({place(r, k), static_cast<int>(destinations(source).size())});
            }
            topologies_.emplace_back(std::move(graph));
        }
    }

    int ranks_;
    unsigned random_;
    bool many_, grid_ = false;
    std::vector<VirtualTopology> topologies_;
    std::vector<std::vector<int>> sources_, destinations_;
};

}   // namespace

void check_neighbors(CaseRun const& t, bool one) {
    Suite& s = t.suite;
    CaseTopologies const topologies(t.c, s.ranks);
    auto const edges = Neighborhood::of(topologies.topology(t.rank), t.rank, s.ranks);
    std::vector<std::int64_t> in, out;
    for (std::size_t k = 0; k < topologies.sources(t.rank).size(); ++k) {
        int const source = topologies.sources(t.rank)[k];
        int const place = source < 0 || one ? 0 : topologies.place(t.rank, static_cast<int>(k));
        in.push_back(source < 0 ? count_between(s, t.c, 1, 1) : count_between(s, t.c, source, place));
    }
    for (std::size_t k = 0; k < (one ? 1 : topologies.destinations(t.rank).size()); ++k)
        out.push_back(count_between(s, t.c, t.rank, static_cast<int>(k)));
    int const in_degree = static_cast<int>(in.size()), out_blocks = static_cast<int>(out.size());
    if (in.empty()) in.push_back(s.count_of(t.c));   // the plain forms pass a count that is not used
    if (out.empty()) out.push_back(s.count_of(t.c));
    Plan const from(s, t.c, out), to(s, t.c, in);
    Memory send = from.memory(), receive = to.memory(), expected = receive;
    for (int k = 0; k < out_blocks; ++k) from.unpack_at(send, k, t.data(from.bytes(k), t.rank, k));
    for (int k = 0; k < in_degree; ++k) {
        int const source = topologies.sources(t.rank)[static_cast<std::size_t>(k)];
        if (source >= 0) to.unpack_at(expected, k, t.data(to.bytes(k), source, one ? 0 : topologies.place(t.rank, k)));
    }
    Memory const send_before = send;
    auto const finish = [&](auto args) {
        args.edges = edges.get();
        args.receive = to.parts(receive);
        args.equal_parts = t.c.form == Form::equal;
        args.part_bytes = args.equal_parts ? from.bytes(0) : 0;
        t.run(args);
    };
    if (one) {
        NeighborAllgatherArgs args{};
        args.mine = from.parts(send)[0];
        finish(args);
    } else {
        NeighborAlltoallArgs args{};
        args.send = from.parts(send);
        finish(args);
    }
    t.same(receive, expected, "recvbuf");
    t.same(send, send_before, "sendbuf");
}

}   // namespace tutti::coll::test
