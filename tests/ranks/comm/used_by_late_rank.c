/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks in a long wait compare their calls on all communicators with all members. This takes little time with hundreds
 * of each; a comparison of each pair of communicators would take minutes. */
// ranks: 2 16
#include <unistd.h>

#include "tests/ranks/check.h"

enum { communicators = 300, rounds = 20 };

int main(int argc, char** argv) {
    static MPI_Comm all[communicators];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < communicators; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
        MPI_Barrier(all[i]);
        MPI_Barrier(all[i]);
    }
    for (int round = 0; round < rounds; ++round) {
        int const late = round % size, mine = rank + round;
        int sum = -1;
        if (rank == late) usleep(50000);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all[round]);
        CHECK(sum == size * (size - 1) / 2 + size * round, "round %d: sum %d", round, sum);
    }
    for (int i = 0; i < communicators; ++i) MPI_Comm_free(&all[i]);
    MPI_Finalize();
    return 0;
}
