/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator allocates its pair counters, flags of outer levels, and slots at their first use. This also works
 * after more operations than a flag can count, or half of that, or while members are some operations apart. */
// ranks: 2 4 5
#include "tests/ranks/comm/node.h"

static void use_all(MPI_Comm comm, int rank, int size, int number) {
    int send[8] = {0}, receive[8], vector[200], sums[200], mine[300], gathered[8 * 300];
    for (int i = 0; i < size; ++i) send[i] = 100 * rank + i + number;
    MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm);
    for (int i = 0; i < size; ++i)
        CHECK(receive[i] == 100 * i + rank + number, "alltoall %d: from %d: %d", number, i, receive[i]);
    for (int i = 0; i < 200; ++i) vector[i] = rank + i + number;
    MPI_Allreduce(vector, sums, 200, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < 200; ++i)
        CHECK(sums[i] == size * (size - 1) / 2 + size * (i + number), "allreduce %d: at %d: %d", number, i, sums[i]);
    int counts[8], displs[8];
    for (int i = 0; i < size; ++i) counts[i] = 300 - i, displs[i] = 300 * i;
    for (int i = 0; i < 300; ++i) mine[i] = 1000 * rank + i + number;
    MPI_Gatherv(mine, counts[rank], MPI_INT, gathered, counts, displs, MPI_INT, size - 1, comm);
    for (int r = 0; rank == size - 1 && r < size; ++r)
        for (int i = 0; i < counts[r]; ++i)
            CHECK(gathered[300 * r + i] == 1000 * r + i + number, "gatherv %d: of %d at %d: %d", number, r, i,
                  gathered[300 * r + i]);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* The last two are left out on several nodes. */
    int const before[] = {0, 1, 7, 8, 9, 32760, 65530, 32768, 33000}, cases = is_single_node() ? 9 : 7;
    for (int k = 0; k < cases; ++k) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        int word = 0;
        /* Broadcasts, in which the root runs ahead. */
        for (int i = 0; i < before[k]; ++i) MPI_Bcast(&word, 1, MPI_INT, 0, comm);
        for (int i = 0; i < 3; ++i) use_all(comm, rank, size, i);
        for (int i = 0; i < (before[k] > 9 ? 70000 : 10); ++i) MPI_Bcast(&word, 1, MPI_INT, 0, comm);
        use_all(comm, rank, size, 3);
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
