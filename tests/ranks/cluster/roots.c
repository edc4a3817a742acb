// SPDX-License-Identifier: BSD-3-Clause
// Rooted collectives with each rank as the root, in sizes that use one frame, several frames, and rendezvous.
// ranks: 1 2 3 4 5 6 8
#include "tests/ranks/check.h"

enum { most = 1 << 17 };   // in longs: 1 MiB

static int rank, size;
static long *one, *all;

static long value(int of, int root, int i) { return of * 1000003L + root * 101 + i; }

static void fill(long *to, int of, int root, int n) {
    for (int i = 0; i < n; ++i) to[i] = value(of, root, i);
}
static void expect(const long *got, int of, int root, int n, const char *what) {
    for (int i = 0; i < n; ++i)
        CHECK(got[i] == value(of, root, i), "%s from %d, root %d: element %d of %d is %ld instead of %ld", what, of,
              root, i, n, got[i], value(of, root, i));
}

static void move_from_and_to(int root, int n) {
    fill(one, rank == root ? root : -1, root, n);
    MPI_Bcast(one, n, MPI_LONG, root, MPI_COMM_WORLD);
    expect(one, root, root, n, "bcast");

    fill(one, rank, root, n);
    MPI_Gather(one, n, MPI_LONG, all, n, MPI_LONG, root, MPI_COMM_WORLD);
    for (int r = 0; r < size && rank == root; ++r) expect(all + (long)r * n, r, root, n, "gather");

    for (int r = 0; r < size && rank == root; ++r) fill(all + (long)r * n, r + 7, root, n);
    MPI_Scatter(all, n, MPI_LONG, one, n, MPI_LONG, root, MPI_COMM_WORLD);
    expect(one, rank + 7, root, n, "scatter");
}

static void reduce_to(int root, int n) {
    fill(one, rank, root, n);
    MPI_Reduce(one, all, n, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD);
    for (int i = 0; i < n && rank == root; ++i) {
        long sum = 0;
        for (int r = 0; r < size; ++r) sum += value(r, root, i);
        CHECK(all[i] == sum, "reduce to %d: element %d of %d is %ld instead of %ld", root, i, n, all[i], sum);
    }
}

int main(int argc, char **argv) {
    const int sizes[] = {0, 1, 512, 9001, most};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    one = malloc(most * sizeof *one);
    all = malloc((size_t)size * most * sizeof *all);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
        for (int root = 0; root < size; ++root) {
            move_from_and_to(root, sizes[s]);
            reduce_to(root, sizes[s]);
        }
    free(one);
    free(all);
    MPI_Finalize();
    return 0;
}
