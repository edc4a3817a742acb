// SPDX-License-Identifier: BSD-3-Clause
// Large messages between heap and static memory, dense and with gaps, of random sizes, in both directions at the same
// time, truncated, cancelled, and of a rank to itself.
// ranks: 1 2 4
// run arena_off: 2 4 TUTTI_ARENA=no
// run cma_off: 2 4 TUTTI_CMA=no
// run staged: 2 4 TUTTI_CMA=no TUTTI_ARENA=no
#include "tests/ranks/check.h"

#include <stdlib.h>

enum { most = 300000 };   // doubles
static double still_in[2 * most], still_out[2 * most];
static double *in[2], *out[2];   // static and heap memory
static unsigned long state;

static int below(int n) {   // the same random numbers at each rank
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (int)((state >> 33) % (unsigned long)n);
}

static int near_a_limit(void) {
    static const int limits[] = {2048, 3072, 4096, 8192, 16384, 65536, most - 2};
    return below(3) ? limits[below(7)] + below(3) - 1 : 1 + below(most);
}

static MPI_Datatype every_other(int n) {
    MPI_Datatype type;
    MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/// Each rank sends n doubles to `to` and receives as many, or `less` fewer, from `from`.
static void exchange(int me, int to, int from, int round) {
    int n = near_a_limit(), less = below(4) ? 0 : below(n), error, count;
    int out_gaps = below(2), in_gaps = below(2), blocking = below(2);
    double *a = out[below(2)], *b = in[below(2)];
    MPI_Datatype sent = every_other(n), wanted = every_other(n - less);
    MPI_Status s;
    for (int i = 0; i < 2 * n; ++i) a[i] = -2, b[i] = -1;
    for (int i = 0; i < n; ++i) a[out_gaps ? 2 * i : i] = me * 1e7 + round + i;
    int a_count = out_gaps ? 1 : n, b_count = in_gaps ? 1 : n - less;
    MPI_Datatype a_type = out_gaps ? sent : MPI_DOUBLE, b_type = in_gaps ? wanted : MPI_DOUBLE;
    if (blocking) {
        error = MPI_Sendrecv(a, a_count, a_type, to, 1, b, b_count, b_type, from, 1, MPI_COMM_WORLD, &s);
    } else {
        MPI_Request r[2];
        MPI_Status both[2];
        MPI_Irecv(b, b_count, b_type, from, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(a, a_count, a_type, to, 1, MPI_COMM_WORLD, &r[1]);
        error = MPI_Waitall(2, r, both);
        s = both[0];
        if (error != MPI_SUCCESS) error = s.MPI_ERROR;   // the only operation in it that may fail
    }
    for (int i = 0; i < 2 * n; ++i) a[i] = -3;   // after completion, no rank may still read it
    int class = MPI_SUCCESS;
    if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
    CHECK(class == (less ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "round %d: class %d, %d less", round, class, less);
    MPI_Get_count(&s, MPI_DOUBLE, &count);
    CHECK(count == n - less, "round %d: %d doubles, not %d", round, count, n - less);
    for (int i = 0; i < n - less; ++i)
        CHECK(b[in_gaps ? 2 * i : i] == from * 1e7 + round + i, "round %d, %d doubles, gaps %d %d: element %d is %g",
              round, n, out_gaps, in_gaps, i, b[in_gaps ? 2 * i : i]);
    for (int i = 0; in_gaps && i + 1 < n - less; ++i)
        CHECK(b[2 * i + 1] == -1, "round %d: gap %d became %g", round, i, b[2 * i + 1]);
    for (int i = in_gaps ? 2 * (n - less) : n - less; i < n; ++i)
        CHECK(b[i] == -1, "round %d: element %d after the last became %g", round, i, b[i]);
    MPI_Type_free(&sent);
    MPI_Type_free(&wanted);
}

static void cancelled(int me, int other) {
    for (int where = 0; where < 2; ++where) {
        MPI_Request r;
        MPI_Status s;
        int flag;
        MPI_Isend(out[where], most, MPI_DOUBLE, other, 7, MPI_COMM_WORLD, &r);
        MPI_Cancel(&r);
        MPI_Wait(&r, &s);
        MPI_Test_cancelled(&s, &flag);
        CHECK(flag, "rank %d: an unreceived large send was not cancelled", me);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    int me, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    in[0] = still_in, out[0] = still_out;
    in[1] = malloc(sizeof still_in), out[1] = malloc(sizeof still_out);
    for (int round = 0; round < 60; ++round) {
        int by = 1 + below(ranks);
        exchange(me, (me + by) % ranks, (me + ranks - by) % ranks, round);
    }
    if (ranks % 2 == 0) cancelled(me, me ^ 1);
    free(in[1]), free(out[1]);
    MPI_Finalize();
    return 0;
}
