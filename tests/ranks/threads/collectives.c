// SPDX-License-Identifier: BSD-3-Clause
// Each of eight threads runs small and large collectives on its own duplicate of the world, while messages of other
// threads are in flight.
// ranks: 1 2 4
#include "tests/ranks/threads/threads.h"

enum { threads = 8, rounds = 12, largest = 30000 };

static MPI_Comm comms[threads];

static void check_reductions(MPI_Comm comm, int n, int key, int *in, int *out) {
    for (int i = 0; i < n; ++i) in[i] = key + i + me;
    MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; ++i)
        CHECK(out[i] == size * (key + i) + size * (size - 1) / 2, "allreduce of %d: element %d is %d", n, i, out[i]);
    MPI_Reduce(in, out, n, MPI_INT, MPI_MAX, key % size, comm);
    if (me == key % size)
        for (int i = 0; i < n; ++i) CHECK(out[i] == key + i + size - 1, "reduce of %d: element %d is %d", n, i, out[i]);
    MPI_Scan(in, out, n, MPI_INT, MPI_MAX, comm);
    for (int i = 0; i < n; ++i) CHECK(out[i] == in[i], "scan of %d: element %d is %d", n, i, out[i]);
}

static void check_movements(MPI_Comm comm, int n, int key, int *in, int *out) {
    int root = (key + 1) % size, each = n / size;
    if (me == root) fill(in, n, key);
    MPI_Bcast(in, n, MPI_INT, root, comm);
    expect(in, n, key, "bcast");
    fill(in, each, key + me);
    MPI_Allgather(in, each, MPI_INT, out, each, MPI_INT, comm);
    for (int r = 0; r < size; ++r) expect(out + r * each, each, key + r, "allgather");
    for (int r = 0; r < size; ++r) fill(in + r * each, each, key + me * size + r);
    MPI_Alltoall(in, each, MPI_INT, out, each, MPI_INT, comm);
    for (int r = 0; r < size; ++r) expect(out + r * each, each, key + r * size + me, "alltoall");
    fill(in, each, key + me);
    MPI_Gather(in, each, MPI_INT, out, each, MPI_INT, root, comm);
    if (me == root)
        for (int r = 0; r < size; ++r) expect(out + r * each, each, key + r, "gather");
    MPI_Barrier(comm);
}

static void collectives(int thread) {
    int *in = malloc(sizeof(int) * largest), *out = malloc(sizeof(int) * largest);
    static const int sizes[] = {4, 500, largest};
    for (int round = 0; round < rounds; ++round) {
        int n = sizes[(round + thread) % 3], key = thread * 100 + round;
        check_reductions(comms[thread], n, key, in, out);
        check_movements(comms[thread], n, key, in, out);
        int got = -1, value = key * 8 + me;
        MPI_Sendrecv(&value, 1, MPI_INT, (me + 1) % size, key, &got, 1, MPI_INT, (me + size - 1) % size, key,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == key * 8 + (me + size - 1) % size, "message %d beside the collectives", got);
    }
    free(in), free(out);
}

int main(int argc, char **argv) {
    start(&argc, &argv);
    for (int t = 0; t < threads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    run_in_threads(threads, collectives);
    for (int t = 0; t < threads; ++t) MPI_Comm_free(&comms[t]);
    MPI_Finalize();
    return 0;
}
