// SPDX-License-Identifier: BSD-3-Clause
// Virtual topologies: graphs, distributed graphs and grids (MPI 3.1, 7.5). Ranks keep their order.
#include <climits>

#include "coll/call/collectives.hpp"
#include "coll/comm/derive.hpp"
#include "mpi_h/communicators/communicators.hpp"
#include "runtime/objects/virtual_topology.hpp"

using namespace tutti;

namespace {

GraphTopology& graph_of(Comm& c) { return topology_of<GraphTopology>(c, "a graph topology"); }

GraphTopology checked_graph(Call const& call, Comm const& c, int nnodes, int const* index, int const* edges) {
    std::span<int const> const ends = checked_array(call, nnodes, index, "nnodes", "index");
    if (nnodes > 0 && nnodes <= c.size() && ends.back() > 0) call.pointer(edges, "edges");
    return GraphTopology::make(ends, edges, c.size());
}

/// Copies a list into an array of the program with room for `most` values.
void copy_out(Call const& call, std::span<int const> values, int most, int* to, char const* room_name,
              char const* list_name) {
    int n = static_cast<int>(values.size());
    if (most < n) fail(ErrorClass::arg, room_name, " is ", most, " but there are ", n, " values");
    if (n > 0) call.pointer(to, list_name);
    std::ranges::copy(values, to);
}

}   // namespace

TUTTI_FUNCTION(Topo_test);
int PMPI_Topo_test(MPI_Comm comm, int* status) {
    return enter(args(comm, status), [&](Call& call) {
        Comm& c = call.any_comm(comm);
        call.pointer(status, "status");
        *status = !c.topology                                          ? MPI_UNDEFINED
                  : std::holds_alternative<CartTopology>(*c.topology)  ? MPI_CART
                  : std::holds_alternative<GraphTopology>(*c.topology) ? MPI_GRAPH
                                                                       : MPI_DIST_GRAPH;
    });
}

TUTTI_FUNCTION(Graph_create);
int PMPI_Graph_create(MPI_Comm comm, int nnodes, int const index[], int const edges[], int reorder,
                      MPI_Comm* comm_graph) {
    return enter(args(comm, nnodes, index, edges, reorder, comm_graph), [&](Call& call) {
        Comm& parent = call.intracomm(comm);
        call.pointer(comm_graph, "comm_graph");
        GraphTopology graph = checked_graph(call, parent, nnodes, index, edges);
        *comm_graph = MPI_COMM_NULL;
        Ref<Group> members = first_ranks(parent, nnodes);
        coll::record_call(parent, call.function);
        *comm_graph = with_topology(coll::create(parent, std::move(members)), std::move(graph));
    });
}

TUTTI_FUNCTION(Graph_map);
int PMPI_Graph_map(MPI_Comm comm, int nnodes, int const index[], int const edges[], int* newrank) {
    return enter(args(comm, nnodes, index, edges, newrank), [&](Call& call) {
        Comm& c = call.intracomm(comm);
        call.pointer(newrank, "newrank");
        checked_graph(call, c, nnodes, index, edges);
        *newrank = c.rank() < nnodes ? c.rank() : MPI_UNDEFINED;
    });
}

TUTTI_FUNCTION(Graphdims_get);
int PMPI_Graphdims_get(MPI_Comm comm, int* nnodes, int* nedges) {
    return enter(args(comm, nnodes, nedges), [&](Call& call) {
        GraphTopology& graph = graph_of(call.any_comm(comm));
        call.pointer(nnodes, "nnodes");
        call.pointer(nedges, "nedges");
        *nnodes = graph.nodes();
        *nedges = static_cast<int>(graph.edges.size());
    });
}

TUTTI_FUNCTION(Graph_get);
int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[]) {
    return enter(args(comm, maxindex, maxedges, index, edges), [&](Call& call) {
        GraphTopology& graph = graph_of(call.any_comm(comm));
        copy_out(call, graph.index, maxindex, index, "maxindex", "index");
        copy_out(call, graph.edges, maxedges, edges, "maxedges", "edges");
    });
}

TUTTI_FUNCTION(Graph_neighbors_count);
int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
    return enter(args(comm, rank, nneighbors), [&](Call& call) {
        Comm& c = call.any_comm(comm);
        GraphTopology& graph = graph_of(c);
        check_member(c, rank);
        call.pointer(nneighbors, "nneighbors");
        *nneighbors = static_cast<int>(graph.neighbors(rank).size());
    });
}

TUTTI_FUNCTION(Graph_neighbors);
int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
    return enter(args(comm, rank, maxneighbors, neighbors), [&](Call& call) {
        Comm& c = call.any_comm(comm);
        GraphTopology& graph = graph_of(c);
        check_member(c, rank);
        copy_out(call, graph.neighbors(rank), maxneighbors, neighbors, "maxneighbors", "neighbors");
    });
}

// Distributed graph topologies (MPI 3.1, 7.5.4 and 7.5.5). Ranks keep their order; hints are not used.

namespace {

DistGraphTopology& dist_graph_of(Comm& c) { return topology_of<DistGraphTopology>(c, "a distributed graph topology"); }

std::vector<int> checked_ranks(Call const& call, Comm const& c, int n, int const* ranks, char const* count_name,
                               char const* name) {
    auto values = checked_array(call, n, ranks, count_name, name);
    for (int rank : values) check_member(c, rank, name);
    return {values.begin(), values.end()};
}

/// Returns one weight per edge; an empty list if the graph has no weights.
std::vector<int> checked_weights(Call const& call, int n, int const* weights, char const* name) {
    if (weights == MPI_UNWEIGHTED || n == 0) return {};
    if (weights == MPI_WEIGHTS_EMPTY) fail(ErrorClass::arg, name, " is MPI_WEIGHTS_EMPTY but there are ", n, " edges");
    auto values = checked_array(call, n, weights, "the number of edges", name);
    for (int weight : values)
        if (weight < 0) fail(ErrorClass::arg, name, " contains ", weight, " but weights must be at least 0");
    return {values.begin(), values.end()};
}

/// Returns the edges that one process passes to MPI_Dist_graph_create.
std::vector<coll::Edge> checked_edges(Call const& call, Comm const& c, int n, int const* sources, int const* degrees,
                                      int const* destinations, int const* weights) {
    auto const all_degrees = checked_array(call, n, degrees, "n", "degrees");
    std::vector<int> from = checked_ranks(call, c, n, sources, "n", "sources");
    long total = 0;
    for (int degree : all_degrees) {
        if (degree < 0) fail(ErrorClass::arg, "degrees contains ", degree, " but must be at least 0");
        total += degree;
    }
    if (total > INT_MAX)
        fail(ErrorClass::arg, "degrees add up to ", total, " but the maximum number of edges is ", INT_MAX);
    int count = static_cast<int>(total);
    std::vector<int> to = checked_ranks(call, c, count, destinations, "the number of edges", "destinations");
    std::vector<int> weight = checked_weights(call, count, weights, "weights");
    weight.resize(to.size(), 1);
    std::vector<coll::Edge> edges;
    for (std::size_t i = 0; i < from.size(); ++i)
        for (int k = 0; k < degrees[i]; ++k) edges.push_back({from[i], to[edges.size()], weight[edges.size()]});
    return edges;
}

void check_info(Call& call, MPI_Info info) {
    if (info != MPI_INFO_NULL) call.info(info);
}

/// Copies up to `most` neighbors and their weights.
void copy_out(Call const& call, DistGraphTopology const& graph, std::vector<int> const& ranks,
              std::vector<int> const& weights, int most, int* ranks_out, int* weights_out) {
    std::size_t n = std::min(ranks.size(), static_cast<std::size_t>(most));
    if (n == 0) return;
    call.pointer(ranks_out, "the array of neighbours");
    std::copy_n(ranks.begin(), n, ranks_out);
    if (weights_out) call.pointer(weights_out, "the array of weights");
    if (graph.weighted && weights_out && weights_out != MPI_UNWEIGHTED) std::copy_n(weights.begin(), n, weights_out);
}

}   // namespace

TUTTI_FUNCTION(Dist_graph_create_adjacent);
int PMPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, int const sources[], int const sourceweights[],
                                    int outdegree, int const destinations[], int const destweights[], MPI_Info info,
                                    int reorder, MPI_Comm* comm_dist_graph) {
    return enter(
        args(comm, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder,
             comm_dist_graph),
        [&](Call& call) {
            Comm& parent = call.intracomm(comm);
            call.pointer(comm_dist_graph, "comm_dist_graph");
            check_info(call, info);
            if ((sourceweights == MPI_UNWEIGHTED) != (destweights == MPI_UNWEIGHTED))
                fail(ErrorClass::arg, "either both sourceweights and destweights are MPI_UNWEIGHTED or neither is");
            checked_array(call, outdegree, destinations, "outdegree", "destinations");
            if (indegree > 0) call.pointer(sourceweights, "sourceweights");
            if (outdegree > 0) call.pointer(destweights, "destweights");
            DistGraphTopology graph;
            graph.sources = checked_ranks(call, parent, indegree, sources, "indegree", "sources");
            graph.source_weights = checked_weights(call, indegree, sourceweights, "sourceweights");
            graph.destinations = checked_ranks(call, parent, outdegree, destinations, "outdegree", "destinations");
            graph.destination_weights = checked_weights(call, outdegree, destweights, "destweights");
            graph.weighted = sourceweights != MPI_UNWEIGHTED;
            *comm_dist_graph = MPI_COMM_NULL;
            coll::record_call(parent, call.function);
            coll::match_edges(parent, graph);
            *comm_dist_graph = with_topology(coll::create(parent, parent.group), std::move(graph));
        });
}

TUTTI_FUNCTION(Dist_graph_create);
int PMPI_Dist_graph_create(MPI_Comm comm, int n, int const sources[], int const degrees[], int const destinations[],
                           int const weights[], MPI_Info info, int reorder, MPI_Comm* comm_dist_graph) {
    return enter(args(comm, n, sources, degrees, destinations, weights, info, reorder, comm_dist_graph),
                 [&](Call& call) {
                     Comm& parent = call.intracomm(comm);
                     call.pointer(comm_dist_graph, "comm_dist_graph");
                     check_info(call, info);
                     auto edges = checked_edges(call, parent, n, sources, degrees, destinations, weights);
                     *comm_dist_graph = MPI_COMM_NULL;
                     coll::record_call(parent, call.function);
                     DistGraphTopology graph = coll::exchange_edges(parent, edges, weights != MPI_UNWEIGHTED);
                     coll::match_edges(parent, graph);
                     *comm_dist_graph = with_topology(coll::create(parent, parent.group), std::move(graph));
                 });
}

TUTTI_FUNCTION(Dist_graph_neighbors_count);
int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
    return enter(args(comm, indegree, outdegree, weighted), [&](Call& call) {
        DistGraphTopology& graph = dist_graph_of(call.any_comm(comm));
        call.pointer(indegree, "indegree");
        call.pointer(outdegree, "outdegree");
        call.pointer(weighted, "weighted");
        *indegree = static_cast<int>(graph.sources.size());
        *outdegree = static_cast<int>(graph.destinations.size());
        *weighted = graph.weighted;
    });
}

/// If there is less room than neighbors, returns the first ones, as the standard requires.
TUTTI_FUNCTION(Dist_graph_neighbors);
int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
                              int destinations[], int destweights[]) {
    return enter(args(comm, maxindegree, sources, sourceweights, maxoutdegree, destinations, destweights),
                 [&](Call& call) {
                     DistGraphTopology& graph = dist_graph_of(call.any_comm(comm));
                     call.count(maxindegree, "maxindegree");
                     call.count(maxoutdegree, "maxoutdegree");
                     copy_out(call, graph, graph.sources, graph.source_weights, maxindegree, sources, sourceweights);
                     copy_out(call, graph, graph.destinations, graph.destination_weights, maxoutdegree, destinations,
                              destweights);
                 });
}

// Cartesian topologies (MPI 3.1, 7.5.1, 7.5.2, 7.5.5 to 7.5.8). Ranks keep their order: on one node, all placements of
// a grid's points are equally near, so `reorder` has no effect.

namespace {

std::vector<bool> to_bool(std::span<int const> values) {
    std::vector<bool> result;
    for (int value : values) result.push_back(value != 0);
    return result;
}

CartTopology checked_grid(Call const& call, Comm const& c, int ndims, int const* dims, int const* periods) {
    auto sizes = checked_array(call, ndims, dims, "ndims", "dims"),
         wraps = checked_array(call, ndims, periods, "ndims", "periods");
    return CartTopology::make(sizes, to_bool(wraps), c.size(), c.rank());
}

CartTopology& grid_of(Comm& c) { return topology_of<CartTopology>(c, "a cartesian topology"); }

/// Throws Error(arg) unless `maxdims` values are enough for one per dimension.
void check_maxdims(int maxdims, CartTopology const& grid) {
    int ndims = static_cast<int>(grid.dims.size());
    if (maxdims < ndims) fail(ErrorClass::arg, "maxdims is ", maxdims, " but the grid has ", ndims, " dimensions");
}

}   // namespace

TUTTI_FUNCTION(Dims_create);
int PMPI_Dims_create(int nnodes, int ndims, int dims[]) {
    return enter(args(nnodes, ndims, dims), [&](Call& call) {
        checked_array(call, ndims, dims, "ndims", "dims");
        balance_dims(nnodes, {dims, static_cast<std::size_t>(ndims)});
    });
}

TUTTI_FUNCTION(Cart_create);
int PMPI_Cart_create(MPI_Comm comm, int ndims, int const dims[], int const periods[], int reorder,
                     MPI_Comm* comm_cart) {
    return enter(args(comm, ndims, dims, periods, reorder, comm_cart), [&](Call& call) {
        Comm& parent = call.intracomm(comm);
        call.pointer(comm_cart, "comm_cart");
        CartTopology grid = checked_grid(call, parent, ndims, dims, periods);
        *comm_cart = MPI_COMM_NULL;
        Ref<Group> members = first_ranks(parent, grid.size());
        coll::record_call(parent, call.function);
        *comm_cart = with_topology(coll::create(parent, std::move(members)), std::move(grid));
    });
}

TUTTI_FUNCTION(Cart_map);
int PMPI_Cart_map(MPI_Comm comm, int ndims, int const dims[], int const periods[], int* newrank) {
    return enter(args(comm, ndims, dims, periods, newrank), [&](Call& call) {
        Comm& c = call.intracomm(comm);
        call.pointer(newrank, "newrank");
        int size = checked_grid(call, c, ndims, dims, periods).size();
        *newrank = c.rank() < size ? c.rank() : MPI_UNDEFINED;
    });
}

TUTTI_FUNCTION(Cartdim_get);
int PMPI_Cartdim_get(MPI_Comm comm, int* ndims) {
    return enter(args(comm, ndims), [&](Call& call) {
        CartTopology& grid = grid_of(call.any_comm(comm));
        call.pointer(ndims, "ndims");
        *ndims = static_cast<int>(grid.dims.size());
    });
}

TUTTI_FUNCTION(Cart_get);
int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
    return enter(args(comm, maxdims, dims, periods, coords), [&](Call& call) {
        CartTopology& grid = grid_of(call.any_comm(comm));
        check_maxdims(maxdims, grid);
        if (grid.dims.empty()) return;
        call.pointer(dims, "dims");
        call.pointer(periods, "periods");
        call.pointer(coords, "coords");
        std::ranges::copy(grid.dims, dims);
        std::ranges::copy(grid.periodic, periods);
        std::ranges::copy(grid.coords, coords);
    });
}

TUTTI_FUNCTION(Cart_rank);
int PMPI_Cart_rank(MPI_Comm comm, int const coords[], int* rank) {
    return enter(args(comm, coords, rank), [&](Call& call) {
        CartTopology& grid = grid_of(call.any_comm(comm));
        call.pointer(rank, "rank");
        *rank = grid.rank_at(checked_array(call, static_cast<int>(grid.dims.size()), coords, "ndims", "coords"));
    });
}

TUTTI_FUNCTION(Cart_coords);
int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
    return enter(args(comm, rank, maxdims, coords), [&](Call& call) {
        Comm& c = call.any_comm(comm);
        CartTopology& grid = grid_of(c);
        check_member(c, rank);
        check_maxdims(maxdims, grid);
        if (!grid.dims.empty()) call.pointer(coords, "coords");
        std::ranges::copy(grid.coords_of(rank), coords);
    });
}

TUTTI_FUNCTION(Cart_shift);
int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
    return enter(args(comm, direction, disp, rank_source, rank_dest), [&](Call& call) {
        CartTopology& grid = grid_of(call.any_comm(comm));
        int ndims = static_cast<int>(grid.dims.size());
        if (direction < 0 || direction >= ndims)
            fail(ErrorClass::arg, "direction is ", direction, " but the grid has ", ndims,
                 " dimensions, numbered from 0");
        call.pointer(rank_source, "rank_source");
        call.pointer(rank_dest, "rank_dest");
        *rank_source = grid.shifted(direction, -static_cast<std::int64_t>(disp)).value_or(MPI_PROC_NULL);
        *rank_dest = grid.shifted(direction, disp).value_or(MPI_PROC_NULL);
    });
}

TUTTI_FUNCTION(Cart_sub);
int PMPI_Cart_sub(MPI_Comm comm, int const remain_dims[], MPI_Comm* newcomm) {
    return enter(args(comm, remain_dims, newcomm), [&](Call& call) {
        Comm& parent = call.intracomm(comm);
        CartTopology& grid = grid_of(parent);
        call.pointer(newcomm, "newcomm");
        auto remain =
            to_bool(checked_array(call, static_cast<int>(grid.dims.size()), remain_dims, "ndims", "remain_dims"));
        int const mine = grid.sub_index(remain, parent.rank());
        std::vector<int> members;
        for (int rank = 0; rank < parent.size(); ++rank)
            if (grid.sub_index(remain, rank) == mine) members.push_back(parent.world_rank(rank));
        auto group = Ref<Group>::adopt(new Group(std::move(members), parent.process.rank()));
        *newcomm = MPI_COMM_NULL;
        coll::record_call(parent, call.function);
        *newcomm = with_topology(coll::create(parent, std::move(group)), grid.sub(remain));
    });
}
