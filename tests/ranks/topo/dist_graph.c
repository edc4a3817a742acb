/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed graphs whose edges each rank specifies for itself, for other ranks, or one rank for all; weighted and
 * not. */
// ranks: 1 3 6
#include "tests/ranks/check.h"

enum { room = 64 };
static int rank, size, *plain;

/* A weighted ring: rank r has edges to r + 1 (weight 10 r) and to r + 2 (weight 10 r + 1). */
static int weight(int from, int step) { return 10 * from + step - 1; }
static int around(int r) { return (r % size + size) % size; }

static void is_ring(MPI_Comm comm, int weighted, const char *what) {
    int in, out, w, status, from[room], to[room], from_w[room], to_w[room];
    MPI_Topo_test(comm, &status);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &w);
    CHECK(status == MPI_DIST_GRAPH, "%s: kind %d", what, status);
    CHECK(in == 2 && out == 2 && w == weighted, "%s: %d in, %d out, weighted %d", what, in, out, w);
    MPI_Dist_graph_neighbors(comm, 2, from, weighted ? from_w : plain, 2, to, weighted ? to_w : plain);
    int found_in = 0, found_out = 0;
    for (int step = 1; step <= 2; ++step)
        for (int i = 0; i < 2; ++i) {
            int before = around(rank - step), after = around(rank + step);
            if (from[i] == before && (!weighted || from_w[i] == weight(before, step))) found_in |= step;
            if (to[i] == after && (!weighted || to_w[i] == weight(rank, step))) found_out |= step;
        }
    CHECK(found_in == 3 && found_out == 3, "%s: in %d %d, out %d %d", what, from[0], from[1], to[0], to[1]);
}

static void adjacent(int weighted) {
    int from[2], to[2], from_w[2], to_w[2];
    for (int step = 1; step <= 2; ++step) {
        from[step - 1] = around(rank - step);
        to[step - 1] = around(rank + step);
        from_w[step - 1] = weight(from[step - 1], step);
        to_w[step - 1] = weight(rank, step);
    }
    MPI_Comm comm, copy;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, weighted ? from_w : plain, 2, to, weighted ? to_w : plain,
                                   MPI_INFO_NULL, 1, &comm);
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_free(&comm);
    is_ring(copy, weighted, "adjacent");
    MPI_Comm_free(&copy);
}

/* Rank p specifies the edges of rank p + shift, or rank 0 specifies all edges. */
static void general(int shift, int by_one, int weighted) {
    int sources[room], degrees[room], to[2 * room], w[2 * room], n = 0, e = 0;
    int first = by_one ? 0 : around(rank + shift), last = by_one ? (rank == 0 ? size : 0) : first + 1;
    for (int r = first; r < last; ++r) {
        sources[n] = r;
        degrees[n++] = 2;
        for (int step = 1; step <= 2; ++step) {
            to[e] = around(r + step);
            w[e++] = weight(r, step);
        }
    }
    MPI_Comm comm;
    int *weights = !weighted ? plain : n ? w : MPI_WEIGHTS_EMPTY;
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, to, weights, MPI_INFO_NULL, 0, &comm);
    is_ring(comm, weighted, by_one ? "given by one" : "given by others");
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2, "sum %d", sum);
    MPI_Comm_free(&comm);
}

static void nothing_and_little_room(void) {
    MPI_Comm comm;
    int in = -1, out = -1, w = -1, from[3] = {0, 0, 0}, guard[2] = {-7, -7};
    int *empty = MPI_WEIGHTS_EMPTY;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, empty, 0, NULL, empty, MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &w);
    CHECK(in == 0 && out == 0 && w == 1, "%d in, %d out, weighted %d", in, out, w);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, plain, MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &w);
    CHECK(in == 0 && out == 0 && w == 0, "%d in, %d out, weighted %d", in, out, w);
    MPI_Comm_free(&comm);

    MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 3, from, plain, 3, from, plain, MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors(comm, 1, guard, plain, 0, NULL, plain);
    CHECK(guard[0] == 0 && guard[1] == -7, "with room for one: %d %d", guard[0], guard[1]);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    plain = MPI_UNWEIGHTED;
    for (int weighted = 0; weighted < 2; ++weighted) {
        adjacent(weighted);
        general(0, 0, weighted);
        general(1, 0, weighted);
        general(0, 1, weighted);
    }
    nothing_and_little_room();
    MPI_Finalize();
    return 0;
}
