/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank adds to each other rank's memory in all kinds of epochs in turn, and compares its memory with the known
 * sums. */
// ranks: 2 4 5 6
// run of_owner: 2 4 TUTTI_ARENA=no TUTTI_CMA=no TUTTI_XPMEM=no
#include "../check.h"

enum { cells = 3000, rounds = 12 };

static int rank, size;
static MPI_Win window;

static void add_everywhere(const double *what, int count) {
    for (int r = 0; r < size; ++r) MPI_Accumulate(what, count, MPI_DOUBLE, r, 0, count, MPI_DOUBLE, MPI_SUM, window);
}

static void by_fence(const double *what, int count) {
    MPI_Win_fence(0, window);
    add_everywhere(what, count);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
}

static void by_groups(const double *what, int count) {
    MPI_Group all;
    MPI_Win_get_group(window, &all);
    MPI_Win_post(all, 0, window);
    MPI_Win_start(all, 0, window);
    add_everywhere(what, count);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    MPI_Group_free(&all);
}

static void by_locks(const double *what, int count) {
    for (int r = 0; r < size; ++r) {
        MPI_Win_lock(r % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, r, 0, window);
        MPI_Accumulate(what, count, MPI_DOUBLE, r, 0, count, MPI_DOUBLE, MPI_SUM, window);
        MPI_Win_unlock(r, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void by_lock_all(const double *what, int count) {
    MPI_Win_lock_all(0, window);
    add_everywhere(what, count);
    MPI_Win_flush_all(window);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *mine = calloc(cells, sizeof *mine), what[cells];
    for (int i = 0; i < cells; ++i) what[i] = i;
    MPI_Win_create(mine, cells * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    void (*const ways[])(const double *, int) = {by_fence, by_groups, by_locks, by_lock_all};
    for (int round = 0; round < rounds; ++round) {
        ways[round % 4](what, cells);
        ways[round % 4](what, 5);
        for (int i = 0; i < cells; ++i) {
            double const expected = (round + 1.0) * (i < 5 ? 2 : 1) * size * i;
            CHECK(mine[i] == expected, "round %d, cell %d: %g instead of %g", round, i, mine[i], expected);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
    free(mine);
    MPI_Finalize();
    return 0;
}
