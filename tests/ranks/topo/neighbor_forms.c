/* SPDX-License-Identifier: BSD-3-Clause */
/* All neighbourhood collectives, blocking, nonblocking and persistent, on grids, graphs and distributed graphs with
 * duplicate edges, loops and ranks without edges; datatypes with gaps; small and large blocks. */
// ranks: 1 2 3 5
#include "tests/ranks/check.h"

#include <string.h>

enum { most_edges = 64 };
enum form { blocking, request, persistent };

static int rank, size;

/* The edges of all ranks in order, and for each incoming edge its index among the outgoing edges of its source. */
static struct edges {
    int in[most_edges], out[most_edges], edge_index[most_edges], in_degree, out_degree;
} e;

static int count_of(int from, int edge) { return (from * 5 + edge * 3) % 4 + 1; }
static int value(int from, int edge, int i) { return from * 1000003 + edge * 10007 + i; }

/* A block of `count` elements of `unit` ints, in a datatype with gaps before and after each int. */
static MPI_Datatype gaps(int unit) {
    MPI_Datatype vector, type;
    MPI_Type_vector(unit, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, -4, (2 * unit + 2) * (MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&vector);
    return type;
}
/* The offset of int i of a block's element k, in ints. */
static long at(int with_gaps, int unit, int k, int i) {
    return with_gaps ? (long)k * (2 * unit + 2) + 2 * i : (long)k * unit + i;
}
static long extent(int with_gaps, int unit) { return with_gaps ? 2 * unit + 2 : unit; }

static void fill(int *block, int with_gaps, int unit, int count, int edge) {
    for (int k = 0; k < count; ++k)
        for (int i = 0; i < unit; ++i) block[at(with_gaps, unit, k, i)] = value(rank, edge, k * unit + i);
}
/* Checks all ints of `count` elements: received data, and unchanged gaps. */
static void check_block(const int *block, int with_gaps, int unit, int count, int from, int edge, const char *call) {
    for (int k = 0; k < count; ++k)
        for (long j = 0; j < extent(with_gaps, unit); ++j) {
            int const gap = with_gaps && (j % 2 || j >= 2 * unit), i = (int)(with_gaps ? j / 2 : j);
            int const want = gap || from == MPI_PROC_NULL ? -7 : value(from, edge, k * unit + i);
            int const got = block[(long)k * extent(with_gaps, unit) + j];
            CHECK(got == want, "%s, %d ints, gaps %d: from %d, edge %d, element %d, int %ld is %d instead of %d", call,
                  unit, with_gaps, from, edge, k, j, got, want);
        }
}

static void wipe(int *all, long ints) {
    for (long i = 0; i < ints; ++i) all[i] = -7;
}
static int *room(long ints) {
    int *const all = malloc((size_t)(ints + 1) * sizeof(int));
    wipe(all, ints);
    return all;
}

/* Makes a call in one of its forms; starts a persistent request several times. */
#define FORMS(name, form, in, ints, ...)                                    \
    do {                                                                    \
        MPI_Request r;                                                      \
        if (form == blocking) MPI_Neighbor_##name(__VA_ARGS__);             \
        if (form == request) {                                              \
            MPI_Ineighbor_##name(__VA_ARGS__, &r);                          \
            MPI_Wait(&r, MPI_STATUS_IGNORE);                                \
        }                                                                   \
        if (form != persistent) break;                                      \
        MPI_Neighbor_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &r);         \
        for (int turn = 0; turn < 3; ++turn) {                              \
            wipe(in, ints);                                                 \
            MPI_Start(&r);                                                  \
            MPI_Wait(&r, MPI_STATUS_IGNORE);                                \
        }                                                                   \
        MPI_Request_free(&r);                                               \
    } while (0)


static void allgathers(MPI_Comm comm, MPI_Datatype type, int with_gaps, int unit, enum form form) {
    long const step = extent(with_gaps, unit);
    int counts[most_edges], displs[most_edges];
    int *const out = room(4 * step), *in = room(3 * step * e.in_degree);
    long const ints = 8 * step * e.in_degree;
    fill(out, with_gaps, unit, 4, 0);
    FORMS(allgather, form, in, 3 * step * e.in_degree, out, 3, type, in, 3, type, comm);
    for (int k = 0; k < e.in_degree; ++k)
        check_block(in + 3 * step * k, with_gaps, unit, 3, e.in[k], 0, "neighbor_allgather");
    free(in);
    in = room(ints);
    for (int k = 0; k < e.in_degree; ++k) {
        counts[k] = e.in[k] == MPI_PROC_NULL ? 2 : count_of(e.in[k], 0);
        displs[k] = 8 * (e.in_degree - 1 - k);
    }
    FORMS(allgatherv, form, in, ints, out, count_of(rank, 0), type, in, counts, displs, type, comm);
    for (int k = 0; k < e.in_degree; ++k)
        check_block(in + displs[k] * step, with_gaps, unit, counts[k], e.in[k], 0, "neighbor_allgatherv");
    free(in);
    free(out);
}

static void alltoalls(MPI_Comm comm, MPI_Datatype type, int with_gaps, int unit, enum form form) {
    long const step = extent(with_gaps, unit);
    int out_counts[most_edges], in_counts[most_edges], out_displs[most_edges], in_displs[most_edges];
    MPI_Aint far_out[most_edges], far_in[most_edges];
    MPI_Datatype out_types[most_edges], in_types[most_edges];
    int *const out = room(4 * step * e.out_degree), *in = room(2 * step * e.in_degree);
    for (int k = 0; k < e.out_degree; ++k) {
        fill(out + 4 * step * k, with_gaps, unit, 4, k);
        out_counts[k] = count_of(rank, k);
        out_displs[k] = 4 * k;
        far_out[k] = 4 * k * step * (MPI_Aint)sizeof(int);
        out_types[k] = type;
    }
    for (int k = 0; k < e.in_degree; ++k) {
        in_counts[k] = e.in[k] == MPI_PROC_NULL ? 3 : count_of(e.in[k], e.edge_index[k]);
        in_displs[k] = 5 * (e.in_degree - 1 - k);
        far_in[k] = in_displs[k] * step * (MPI_Aint)sizeof(int);
        in_types[k] = type;
    }
    int *const equal = room(2 * step * e.out_degree);
    for (int k = 0; k < e.out_degree; ++k) fill(equal + 2 * step * k, with_gaps, unit, 2, k);
    FORMS(alltoall, form, in, 2 * step * e.in_degree, equal, 2, type, in, 2, type, comm);
    for (int k = 0; k < e.in_degree; ++k)
        check_block(in + 2 * step * k, with_gaps, unit, 2, e.in[k], e.edge_index[k], "neighbor_alltoall");
    free(equal);
    free(in);
    for (int w = 0; w < 2; ++w) {
        long const ints = 5 * step * e.in_degree;
        in = room(ints);
        if (w)
            FORMS(alltoallw, form, in, ints, out, out_counts, far_out, out_types, in, in_counts, far_in, in_types,
                  comm);
        else
            FORMS(alltoallv, form, in, ints, out, out_counts, out_displs, type, in, in_counts, in_displs, type, comm);
        for (int k = 0; k < e.in_degree; ++k)
            check_block(in + in_displs[k] * step, with_gaps, unit, in_counts[k], e.in[k], e.edge_index[k],
                        w ? "neighbor_alltoallw" : "neighbor_alltoallv");
        free(in);
    }
    free(out);
}

static void all_calls(MPI_Comm comm) {
    static int const units[] = {0, 1, 14, 511, 2047, 2048, 2049, 20000};
    for (int form = blocking; form <= persistent; ++form)
        for (int i = 0; i < (int)(sizeof units / sizeof *units); ++i)
            for (int with_gaps = 0; with_gaps < 2; ++with_gaps) {
                if (size > 3 && units[i] > 3000 && form == request) continue;
                MPI_Datatype type = MPI_INT;
                if (with_gaps) type = gaps(units[i]);
                else MPI_Type_contiguous(units[i], MPI_INT, &type), MPI_Type_commit(&type);
                allgathers(comm, type, with_gaps, units[i], form);
                alltoalls(comm, type, with_gaps, units[i], form);
                MPI_Type_free(&type);
            }
}

static void on_a_grid(void) {
    int dims[2] = {0, 0}, periods[2] = {1, 0};
    MPI_Comm comm;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    e.in_degree = e.out_degree = 4;
    for (int k = 0; k < 4; ++k) {
        int before, behind;
        MPI_Cart_shift(comm, k / 2, 1, &before, &behind);
        e.in[k] = e.out[k] = k % 2 ? behind : before;
        e.edge_index[k] = k ^ 1;
    }
    all_calls(comm);
    MPI_Comm_free(&comm);
}

/* A wheel with double spokes, and a loop at each rank. */
static void on_a_graph(void) {
    int index[64], edges[64 * 8], n = 0;
    for (int r = 0; r < size; ++r) {
        edges[n++] = r;
        if (size > 1 && r > 0) edges[n++] = 0, edges[n++] = 0;
        for (int spoke = 1; r == 0 && spoke < size; ++spoke) edges[n++] = spoke, edges[n++] = spoke;
        index[r] = n;
    }
    MPI_Comm comm;
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
    int const first = rank > 0 ? index[rank - 1] : 0;
    e.in_degree = e.out_degree = index[rank] - first;
    for (int k = 0; k < e.in_degree; ++k) {
        int const peer = edges[first + k];
        e.in[k] = e.out[k] = peer;
        e.edge_index[k] = peer == rank ? 0 : rank == 0 ? (k - 1) % 2 + 1 : (rank - 1) * 2 + 1 + (k - 1) % 2;
    }
    all_calls(comm);
    MPI_Comm_free(&comm);
}

/* Each rank sends twice to the next and once to rank 0; the last one sends nothing. Sources in descending order. */
static int destinations_of(int r, int *to) {
    int n = 0;
    if (r == size - 1 && size > 1) return 0;
    to[n++] = (r + 1) % size;
    to[n++] = 0;
    to[n++] = (r + 1) % size;
    return n;
}
static void directed(MPI_Comm comm) {
    e.in_degree = 0;
    e.out_degree = destinations_of(rank, e.out);
    for (int source = size - 1; source >= 0; --source) {
        int to[3];
        int const n = destinations_of(source, to);
        for (int k = 0; k < n; ++k)
            if (to[k] == rank) e.edge_index[e.in_degree] = k, e.in[e.in_degree++] = source;
    }
    if (comm == MPI_COMM_NULL) return;
    all_calls(comm);
    MPI_Comm_free(&comm);
}
static void on_directed_graphs(void) {
    MPI_Comm comm, copy;
    directed(MPI_COMM_NULL);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, e.in_degree, e.in, MPI_UNWEIGHTED, e.out_degree, e.out,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_free(&comm);
    directed(copy);
    /* The same edges, all specified by rank 0, those of the last source first. */
    int sources[64 * 3], degrees[64], to[64 * 3], n = 0, edges = 0;
    for (int source = size - 1; source >= 0 && rank == 0; --source) {
        sources[n] = source;
        degrees[n] = destinations_of(source, to + edges);
        edges += degrees[n++];
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    directed(comm);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    on_a_grid();
    on_a_graph();
    on_directed_graphs();
    MPI_Finalize();
    return 0;
}
