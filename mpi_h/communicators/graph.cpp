// SPDX-License-Identifier: BSD-3-Clause
// Graph topologies, and the kind of a topology (MPI 3.1, 7.5.3 and 7.5.5). Ranks keep their order.
#include "coll/call/collectives.hpp"
#include "coll/comm/derive.hpp"
#include "mpi_h/communicators/communicators.hpp"

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
