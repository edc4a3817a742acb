/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments of topology functions: each returns its error class, and no rank is left waiting. */
// ranks: 2
#include "tests/ranks/check.h"

static MPI_Comm world = MPI_COMM_WORLD;
static int two[2] = {2, 1}, flat[2] = {0, 0}, list[4] = {0, 1, 7, -1}, index_[2] = {1, 2};

static void grids(void) {
    int n, m, w, four[4] = {2, 2, 0, -1};
    MPI_Comm made, grid;
    FAILS(MPI_ERR_DIMS, MPI_Dims_create(5, 2, two));
    FAILS(MPI_ERR_DIMS, MPI_Dims_create(4, 4, four));
    FAILS(MPI_ERR_ARG, MPI_Dims_create(0, 1, flat));
    FAILS(MPI_ERR_ARG, MPI_Dims_create(4, -1, flat));
    FAILS(MPI_ERR_ARG, MPI_Dims_create(4, 2, NULL));
    FAILS(MPI_ERR_DIMS, MPI_Cart_create(world, 2, four, flat, 0, &made));
    FAILS(MPI_ERR_DIMS, MPI_Cart_create(world, 1, &four[2], flat, 0, &made));
    FAILS(MPI_ERR_DIMS, MPI_Cart_create(world, 1, &four[3], flat, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Cart_create(world, -1, two, flat, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Cart_create(world, 2, two, NULL, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Cart_create(world, 2, two, flat, 0, NULL));
    FAILS(MPI_ERR_COMM, MPI_Cart_create(MPI_COMM_NULL, 2, two, flat, 0, &made));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(world, &n));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cart_sub(world, flat, &made));

    MPI_Cart_create(world, 2, two, flat, 0, &grid);
    FAILS(MPI_ERR_TOPOLOGY, MPI_Graphdims_get(grid, &n, &m));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors_count(grid, &n, &m, &w));
    FAILS(MPI_ERR_ARG, MPI_Cart_get(grid, 1, four, four, four));
    FAILS(MPI_ERR_ARG, MPI_Cart_coords(grid, 0, 1, four));
    FAILS(MPI_ERR_RANK, MPI_Cart_coords(grid, 2, 2, four));
    FAILS(MPI_ERR_RANK, MPI_Cart_coords(grid, MPI_PROC_NULL, 2, four));
    FAILS(MPI_ERR_ARG, MPI_Cart_rank(grid, two, &n));
    FAILS(MPI_ERR_ARG, MPI_Cart_rank(grid, NULL, &n));
    FAILS(MPI_ERR_ARG, MPI_Cart_shift(grid, 2, 1, &n, &m));
    FAILS(MPI_ERR_ARG, MPI_Cart_shift(grid, -1, 1, &n, &m));
    FAILS(MPI_ERR_ARG, MPI_Cart_shift(grid, 0, 1, NULL, &m));
    MPI_Comm_free(&grid);
}

static void graphs(void) {
    int n, room[4], falling[2] = {1, 0};
    MPI_Comm made, graph;
    FAILS(MPI_ERR_DIMS, MPI_Graph_create(world, 3, list, list, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(world, -1, index_, list, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(world, 2, falling, list, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(world, 2, index_, &list[2], 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(world, 2, index_, NULL, 0, &made));
    MPI_Graph_create(world, 2, index_, list, 0, &graph);
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(graph, &n));
    FAILS(MPI_ERR_ARG, MPI_Graph_get(graph, 1, 2, room, room));
    FAILS(MPI_ERR_ARG, MPI_Graph_neighbors(graph, 0, 0, room));
    FAILS(MPI_ERR_RANK, MPI_Graph_neighbors_count(graph, 2, &n));
    MPI_Comm_free(&graph);
}

static void distributed_graphs(void) {
    MPI_Comm made, dist;
    MPI_Info no = MPI_INFO_NULL;
    int *plain = MPI_UNWEIGHTED;
    FAILS(MPI_ERR_RANK, MPI_Dist_graph_create_adjacent(world, 1, &list[2], plain, 0, NULL, plain, no, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(world, -1, list, plain, 0, NULL, plain, no, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(world, 1, list, plain, 1, list, list, no, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(world, 1, list, MPI_WEIGHTS_EMPTY, 0, list, list, no, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(world, 1, list, &list[3], 0, list, list, no, 0, &made));
    FAILS(MPI_ERR_RANK, MPI_Dist_graph_create(world, 1, &list[3], index_, list, plain, no, 0, &made));
    FAILS(MPI_ERR_RANK, MPI_Dist_graph_create(world, 1, list, index_, &list[2], plain, no, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create(world, 1, list, &list[3], list, plain, no, 0, &made));
    FAILS(MPI_ERR_INFO, MPI_Dist_graph_create(world, 1, list, index_, list, plain, 12345, 0, &made));
    MPI_Dist_graph_create(world, 1, list, index_, list, plain, no, 0, &dist);
    FAILS(MPI_ERR_COUNT, MPI_Dist_graph_neighbors(dist, -1, list, plain, 0, NULL, plain));
    MPI_Comm_free(&dist);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    grids();
    graphs();
    distributed_graphs();
    MPI_Finalize();
    return 0;
}
