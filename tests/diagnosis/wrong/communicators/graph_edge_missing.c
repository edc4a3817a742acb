// SPDX-License-Identifier: BSD-3-Clause
// In the graph, rank 0 has an edge from rank 1, but rank 1 has no neighbours and does not call the collective.
// ranks: 2 3
// expect: T01 or T03 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int other = 1 - rank, mine = rank, theirs = 0;
    int edges = rank < 2;
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, edges, &other, MPI_UNWEIGHTED, edges, &other, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    if (rank == 0) MPI_Neighbor_allgather(&mine, 1, MPI_INT, &theirs, 1, MPI_INT, graph);   // HERE 0
    MPI_Barrier(MPI_COMM_WORLD);                                                            // HERE 1-2
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return 0;
}
