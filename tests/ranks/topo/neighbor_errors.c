/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments of neighbourhood collectives, each with its error class; graphs with inconsistent edges; a block that
 * is too long for its buffer. No rank is left waiting. */
// ranks: 2
#include "tests/ranks/check.h"

static int out[4] = {1, 2, 3, 4}, in[4], counts[2] = {1, 1}, displs[2] = {0, 1}, negative[2] = {1, -1};
static MPI_Aint far[2] = {0, 4};
static MPI_Datatype types[2], no_types[2];

static void arguments(MPI_Comm ring) {
    MPI_Request r;
    MPI_Comm const world = MPI_COMM_WORLD;
    MPI_Datatype fresh;
    MPI_Type_contiguous(2, MPI_INT, &fresh);
    FAILS(MPI_ERR_COMM, MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_NULL));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, world));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, world));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_alltoallw(out, counts, far, types, in, counts, far, types, world));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, world));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, counts, displs, MPI_INT, world));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, world, &r));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_allgather_init(out, 1, MPI_INT, in, 1, MPI_INT, world, MPI_INFO_NULL, &r));
    FAILS(MPI_ERR_BUFFER, MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, ring));
    FAILS(MPI_ERR_BUFFER, MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, ring));
    FAILS(MPI_ERR_BUFFER, MPI_Neighbor_alltoall(out, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, ring));
    FAILS(MPI_ERR_BUFFER, MPI_Neighbor_alltoall(in, 1, MPI_INT, in, 1, MPI_INT, ring));
    FAILS(MPI_ERR_BUFFER, MPI_Neighbor_alltoall(NULL, 1, MPI_INT, in, 1, MPI_INT, ring));
    FAILS(MPI_ERR_COUNT, MPI_Neighbor_alltoall(out, -1, MPI_INT, in, 1, MPI_INT, ring));
    FAILS(MPI_ERR_COUNT, MPI_Neighbor_allgather(out, 1, MPI_INT, in, -1, MPI_INT, ring));
    FAILS(MPI_ERR_TYPE, MPI_Neighbor_alltoall(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INT, ring));
    FAILS(MPI_ERR_TYPE, MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, fresh, ring));
    FAILS(MPI_ERR_COUNT, MPI_Neighbor_alltoallv(out, negative, displs, MPI_INT, in, counts, displs, MPI_INT, ring));
    FAILS(MPI_ERR_COUNT, MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, negative, displs, MPI_INT, ring));
    FAILS(MPI_ERR_ARG, MPI_Neighbor_alltoallv(out, NULL, displs, MPI_INT, in, counts, displs, MPI_INT, ring));
    FAILS(MPI_ERR_ARG, MPI_Neighbor_alltoallv(out, counts, displs, MPI_INT, in, counts, NULL, MPI_INT, ring));
    FAILS(MPI_ERR_TYPE, MPI_Neighbor_alltoallw(out, counts, far, types, in, counts, far, no_types, ring));
    FAILS(MPI_ERR_ARG, MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring, NULL));
    MPI_Type_free(&fresh);
}

/* Rank 1 specifies two edges from rank 0, which specifies one. */
static void disagreeing(int rank) {
    int const zeros[2] = {0, 0}, one = 1;
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank ? 2 : 0, zeros, MPI_UNWEIGHTED, rank ? 0 : 1, &one,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    if (rank == 1) FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, graph));
    MPI_Comm_free(&graph);
    int const index[2] = {1, 1};
    MPI_Graph_create(MPI_COMM_WORLD, 2, index, &one, 0, &graph);
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, graph));
    MPI_Comm_free(&graph);
}

static void too_long(MPI_Comm ring) {
    static int large[40000], room[40000];
    FAILS(MPI_ERR_TRUNCATE, MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 1, MPI_INT, ring));
    FAILS(MPI_ERR_TRUNCATE, MPI_Neighbor_allgather(large, 20000, MPI_INT, room, 19999, MPI_INT, ring));
    FAILS(MPI_ERR_TRUNCATE, MPI_Neighbor_alltoallv(large, (int[]){20000, 1}, displs, MPI_INT, room,
                                                   (int[]){1, 1}, displs, MPI_INT, ring));
    CHECK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring) == MPI_SUCCESS, "after wrong calls");
}

int main(int argc, char **argv) {
    int rank, two = 2, yes = 1;
    MPI_Comm ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    types[0] = types[1] = no_types[0] = MPI_INT;
    no_types[1] = MPI_DATATYPE_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &two, &yes, 0, &ring);
    arguments(ring);
    disagreeing(rank);
    too_long(ring);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
