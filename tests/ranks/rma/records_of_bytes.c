// SPDX-License-Identifier: BSD-3-Clause
// A record that is replaced and fetched as MPI_BYTE is not torn; programs with lists of ranks and displacements rely on
// it.
// ranks: 2 4
#include <stdint.h>

#include "tests/ranks/check.h"

enum { words = 4 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    uint64_t *shared, mine[words], seen[words];
    MPI_Win win;
    MPI_Win_allocate(sizeof mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win);
    for (int i = 0; i < words; ++i) shared[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int round = 1; round <= 3000; ++round) {
        // Each byte of each word differs from those of the previous round and of other ranks.
        for (int i = 0; i < words; ++i) mine[i] = (uint64_t)(round * size + rank) % 251 * 0x0101010101010101;
        if (rank % 2 == 1) MPI_Accumulate(mine, sizeof mine, MPI_BYTE, 0, 0, sizeof mine, MPI_BYTE, MPI_REPLACE, win);
        MPI_Get_accumulate(NULL, 0, MPI_BYTE, seen, sizeof seen, MPI_BYTE, 0, 0, sizeof seen, MPI_BYTE, MPI_NO_OP, win);
        MPI_Win_flush(0, win);
        CHECK(seen[0] == seen[0] % 256 * 0x0101010101010101, "a torn word %lx in round %d", (long)seen[0], round);
        for (int i = 1; i < words; ++i)
            CHECK(seen[i] == seen[0], "word %d is %lx beside %lx in round %d", i, (long)seen[i], (long)seen[0], round);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
