/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian communicators: shape, messages to neighbours, subgrids, grids that are too small, and no dimensions. */
// ranks: 1 6 8
#include "tests/ranks/check.h"

static int rank, size;

static int kind(MPI_Comm comm) {
    int status;
    MPI_Topo_test(comm, &status);
    return status;
}

static void grid(void) {
    int dims[3] = {0, 0, 0}, periods[3] = {1, 0, 1}, d[3], p[3], c[3], at[3], n, me, r;
    MPI_Comm comm, copy;
    MPI_Dims_create(size, 3, dims);
    CHECK(dims[0] * dims[1] * dims[2] == size && dims[0] >= dims[1] && dims[1] >= dims[2], "%d %d %d", dims[0], dims[1],
          dims[2]);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 1, &comm);
    CHECK(kind(comm) == MPI_CART && kind(MPI_COMM_WORLD) == MPI_UNDEFINED, "kinds %d and %d", kind(comm),
          kind(MPI_COMM_WORLD));
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_free(&comm);   /* the duplicate has its own topology */
    MPI_Cartdim_get(copy, &n);
    MPI_Cart_get(copy, 3, d, p, c);
    MPI_Comm_rank(copy, &me);
    MPI_Cart_coords(copy, me, 3, at);
    MPI_Cart_rank(copy, at, &r);
    CHECK(n == 3 && r == me, "%d dimensions, rank %d of %d", n, r, me);
    for (int i = 0; i < 3; ++i)
        CHECK(d[i] == dims[i] && p[i] == periods[i] && c[i] == at[i], "dimension %d: %d %d %d", i, d[i], p[i], c[i]);

    for (int i = 0; i < 3; ++i) {
        int from, to, got = -1, want = -1;
        MPI_Cart_shift(copy, i, 1, &from, &to);
        MPI_Sendrecv(&me, 1, MPI_INT, to, i, &got, 1, MPI_INT, from, i, copy, MPI_STATUS_IGNORE);
        at[i] = c[i] - 1;
        if (at[i] >= 0 || periods[i]) MPI_Cart_rank(copy, at, &want);
        at[i] = c[i];
        CHECK(got == want, "dimension %d: got %d instead of %d", i, got, want);
        MPI_Cart_shift(copy, i, 0, &from, &to);
        CHECK(from == me && to == me, "a shift by 0 leads to %d and %d", from, to);
    }
    MPI_Comm_free(&copy);
}

static void sub_grids(void) {
    int dims[2] = {0, 0}, periods[2] = {0, 1}, remain[2] = {0, 1}, none[2] = {0, 0};
    int c[2], n, me, period, coord, sum = 0;
    MPI_Comm comm, row, point;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    MPI_Comm_rank(comm, &me);
    MPI_Cart_coords(comm, me, 2, c);
    MPI_Cart_sub(comm, remain, &row);
    MPI_Cart_get(row, 1, &n, &period, &coord);
    CHECK(n == dims[1] && period == 1 && coord == c[1], "row of %d, period %d, at %d", n, period, coord);
    MPI_Allreduce(&c[0], &sum, 1, MPI_INT, MPI_SUM, row);
    CHECK(sum == c[0] * dims[1], "row of different coordinates: %d", sum);

    MPI_Cart_sub(comm, none, &point);
    MPI_Comm_size(point, &n);
    CHECK(n == 1 && kind(point) == MPI_CART, "%d members, kind %d", n, kind(point));
    MPI_Cartdim_get(point, &n);
    CHECK(n == 0, "%d dimensions", n);
    MPI_Cart_get(point, 0, NULL, NULL, NULL);
    MPI_Cart_rank(point, NULL, &n);
    CHECK(n == 0, "rank %d", n);
    MPI_Comm_free(&point);
    MPI_Comm_free(&row);
    MPI_Comm_free(&comm);
}

static void fewer_points(void) {
    int points = size - 1, period = 0, newrank;
    MPI_Comm comm;
    if (points > 0) {
        MPI_Cart_create(MPI_COMM_WORLD, 1, &points, &period, 1, &comm);
        CHECK((comm == MPI_COMM_NULL) == (rank == points), "handle %x", comm);
        if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
        MPI_Cart_map(MPI_COMM_WORLD, 1, &points, &period, &newrank);
        CHECK(newrank == (rank == points ? MPI_UNDEFINED : rank), "mapped to %d", newrank);
    }
    MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank != 0), "handle %x", comm);
    if (comm != MPI_COMM_NULL) {
        MPI_Cartdim_get(comm, &points);
        CHECK(points == 0, "%d dimensions", points);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    grid();
    sub_grids();
    fewer_points();
    MPI_Finalize();
    return 0;
}
