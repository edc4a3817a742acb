/* SPDX-License-Identifier: BSD-3-Clause */
/* Graph communicators: all inquiry functions on a star with a loop, and on its duplicate. */
// ranks: 2 5
#include "tests/ranks/check.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, nodes, edges, n, status, index[8], to[32], got_index[8], got_to[32], most = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* Node 0 has edges to all nodes, itself included; the others have an edge back. */
    for (int i = 0; i < size; ++i) to[most++] = i;
    index[0] = most;
    for (int i = 1; i < size; ++i) {
        to[most++] = 0;
        index[i] = most;
    }
    MPI_Comm graph, copy;
    MPI_Graph_create(MPI_COMM_WORLD, size, index, to, 1, &graph);
    MPI_Comm_dup(graph, &copy);
    MPI_Comm_free(&graph);
    MPI_Topo_test(copy, &status);
    MPI_Graphdims_get(copy, &nodes, &edges);
    CHECK(status == MPI_GRAPH && nodes == size && edges == most, "kind %d, %d nodes, %d edges", status, nodes, edges);
    MPI_Graph_get(copy, nodes, edges, got_index, got_to);
    for (int i = 0; i < nodes; ++i) CHECK(got_index[i] == index[i], "index[%d] is %d", i, got_index[i]);
    for (int i = 0; i < edges; ++i) CHECK(got_to[i] == to[i], "edges[%d] is %d", i, got_to[i]);
    for (int r = 0; r < size; ++r) {
        MPI_Graph_neighbors_count(copy, r, &n);
        CHECK(n == (r == 0 ? size : 1), "rank %d has %d neighbours", r, n);
        MPI_Graph_neighbors(copy, r, n, got_to);
        for (int i = 0; i < n; ++i)
            CHECK(got_to[i] == (r == 0 ? i : 0), "neighbour %d of rank %d is %d", i, r, got_to[i]);
    }
    MPI_Comm_free(&copy);

    /* Fewer nodes than ranks: the last rank gets MPI_COMM_NULL. */
    for (int i = 0; i < size - 1; ++i) index[i] = 0;
    MPI_Graph_create(MPI_COMM_WORLD, size - 1, index, NULL, 0, &graph);
    CHECK((graph == MPI_COMM_NULL) == (rank == size - 1), "handle %x", graph);
    if (graph != MPI_COMM_NULL) MPI_Comm_free(&graph);
    MPI_Graph_map(MPI_COMM_WORLD, size - 1, index, NULL, &n);
    CHECK(n == (rank == size - 1 ? MPI_UNDEFINED : rank), "mapped to %d", n);
    MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &graph);
    CHECK(graph == MPI_COMM_NULL, "handle %x", graph);
    MPI_Finalize();
    return 0;
}
