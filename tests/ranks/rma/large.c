/* SPDX-License-Identifier: BSD-3-Clause */
/* Large puts and gets, more of each size than the library needs to select a copy method: whichever it selects, exactly
 * the right bytes arrive, at any alignment. */
// ranks: 1 2 4
#include "tests/ranks/check.h"

#include <stdlib.h>
#include <string.h>

enum { most = 1 << 20, around = 64, times = 30 };

/* Fills the surroundings of `bytes` bytes of rank `of`, and these; the values depend on `time`. */
static void fill(unsigned char *memory, int bytes, unsigned char outside, int of, int time) {
    memset(memory, outside, (size_t)bytes + 2 * around);
    memset(memory + around, 100 + (of + time) % 100, (size_t)bytes);
    memory[around + bytes / 3] = (unsigned char)time;
}

/* Each rank writes to and reads from the next rank, at `offset` in the window. */
static void exchange(MPI_Win win, unsigned char *window, int bytes, int offset, int misplaced) {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const to = (rank + 1) % size, from = (rank + size - 1) % size;
    size_t const all = (size_t)bytes + 2 * around;
    unsigned char *memory = malloc(all + 64), *buffer = memory + misplaced, *right = malloc(all);
    for (int i = 0; i < times; ++i) {
        memset(window, 255, (size_t)offset + all);
        fill(buffer, bytes, 254, rank, i);
        MPI_Win_fence(0, win);
        MPI_Put(buffer + around, bytes, MPI_BYTE, to, offset + around, bytes, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        fill(right, bytes, 255, from, i);
        CHECK(memcmp(window + offset, right, all) == 0, "put %d of %d bytes", i, bytes);
        memset(buffer, 253, all);
        MPI_Get(buffer + around, bytes, MPI_BYTE, to, offset + around, bytes, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        fill(right, bytes, 253, rank, i);
        CHECK(memcmp(buffer, right, all) == 0, "get %d of %d bytes", i, bytes);
    }
    free(memory);
    free(right);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    size_t const room = most + 2 * around + 64;
    unsigned char *created = malloc(room), *allocated;
    MPI_Win over_malloc, own;
    MPI_Win_create(created, (MPI_Aint)room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &over_malloc);
    MPI_Win_allocate((MPI_Aint)room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &own);
    MPI_Win_fence(0, over_malloc);
    MPI_Win_fence(0, own);
    int const sizes[] = {4096, 10000, 65536, 200001, most};
    for (int s = 0; s < 5; ++s)
        for (int misplaced = 0; misplaced < 10; misplaced += 9) {
            exchange(over_malloc, created, sizes[s], misplaced ? 3 : 0, misplaced);
            exchange(own, allocated, sizes[s], 0, misplaced);
        }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, over_malloc);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, own);
    MPI_Win_free(&over_malloc);
    MPI_Win_free(&own);
    free(created);
    MPI_Finalize();
    return 0;
}
