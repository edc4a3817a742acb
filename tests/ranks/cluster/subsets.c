// SPDX-License-Identifier: BSD-3-Clause
// Communicators of arbitrary ranks on arbitrary nodes, in ascending and another order: all subsets of up to five ranks,
// and some larger ones. In each, all kinds of collectives from each root, and messages by rank.
// ranks: 2 3 4 5 6 8
#include "tests/ranks/check.h"

enum { n = 300 };

static int world, worlds;
static int in[n * 8], out[n * 8];

static int value(int of, int i) { return of * 1000 + i; }
static void fill(int of) {
    for (int i = 0; i < n * 8; ++i) in[i] = value(of, i), out[i] = -1;
}

static void expect_blocks(int size, int at, const char *what) {
    for (int r = 0; r < size; ++r)
        for (int i = 0; i < n; ++i)
            CHECK(out[r * n + i] == value(r, at * n + i), "%s: element %d from %d is %d", what, i, r, out[r * n + i]);
}

static void without_root(MPI_Comm comm, int rank, int size) {
    fill(rank);
    MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; ++i)
        CHECK(out[i] == 1000 * size * (size - 1) / 2 + size * i, "allreduce: element %d is %d", i, out[i]);
    fill(rank);
    MPI_Scan(in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; ++i)
        CHECK(out[i] == 1000 * rank * (rank + 1) / 2 + (rank + 1) * i, "scan: element %d is %d", i, out[i]);
    fill(rank);
    MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, comm);
    expect_blocks(size, 0, "allgather");
    fill(rank);
    MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, comm);
    expect_blocks(size, rank, "alltoall");
    MPI_Barrier(comm);
}

static void from_root(MPI_Comm comm, int rank, int size, int root) {
    fill(rank == root ? root : 77);
    MPI_Bcast(in, n, MPI_INT, root, comm);
    for (int i = 0; i < n; ++i) CHECK(in[i] == value(root, i), "bcast from %d: element %d is %d", root, i, in[i]);
    fill(rank);
    MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, root, comm);
    if (rank == root) expect_blocks(size, 0, "gather");
    MPI_Reduce(in, out, n, MPI_INT, MPI_MAX, root, comm);
    for (int i = 0; i < n && rank == root; ++i)
        CHECK(out[i] == value(size - 1, i), "reduce to %d: element %d is %d", root, i, out[i]);
}

static void use(MPI_Comm comm) {
    int rank, size, got = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    without_root(comm, rank, size);
    for (int root = 0; root < size; ++root) from_root(comm, rank, size, root);
    MPI_Sendrecv(&world, 1, MPI_INT, (rank + 1) % size, 5, &got, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm,
                 MPI_STATUS_IGNORE);
    int before = (rank + size - 1) % size, translated = -1;
    MPI_Group mine, all;
    MPI_Comm_group(comm, &mine);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_translate_ranks(mine, 1, &before, all, &translated);
    CHECK(got == translated, "the source is %d instead of %d", got, translated);
    MPI_Group_free(&mine);
    MPI_Group_free(&all);
}

// Returns the members of `set`, ascending or descending.
static void make_and_use(unsigned set, int turned) {
    int ranks[8], count = 0;
    for (int r = 0; r < worlds; ++r)
        if (set & 1u << r) ranks[count++] = r;
    for (int i = 0; i < count / 2 && turned; ++i) {
        int swapped = ranks[i];
        ranks[i] = ranks[count - 1 - i];
        ranks[count - 1 - i] = swapped;
    }
    if (!(set & 1u << world)) return;
    MPI_Group all, some;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, count, ranks, &some);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, (int)set, &comm);
    use(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_size(MPI_COMM_WORLD, &worlds);
    unsigned const sets = 1u << worlds, step = worlds <= 5 ? 1 : 11;
    for (unsigned set = 1; set < sets; set += step) make_and_use(set, set / step % 2);
    make_and_use(sets - 1, 0);
    make_and_use(sets - 1, 1);
    MPI_Finalize();
    return 0;
}
