// SPDX-License-Identifier: BSD-3-Clause
// The system forbids CMA to some ranks before they create windows over memory outside arenas: operations and their
// atomicity are unchanged, and no diagnostic is printed.
// ranks: 2 4
#include "tests/ranks/memory/forbid_cma.h"

static int memory[8];

static void use(MPI_Win win, MPI_Aint const *places, int me, int ranks) {
    int const one = 1, to = (me + 1) % ranks, from = (me + ranks - 1) % ranks, value = 100 + me;
    int got = -1;
    for (int i = 0; i < 8; ++i) memory[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Put(&value, 1, MPI_INT, to, places[to] + (MPI_Aint)sizeof(int), 1, MPI_INT, win);
    for (int i = 0; i < 50; ++i)
        for (int r = 0; r < ranks; ++r) MPI_Accumulate(&one, 1, MPI_INT, r, places[r], 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get(&got, 1, MPI_INT, to, places[to], 1, MPI_INT, win);
    MPI_Win_flush(to, win);
    CHECK(got == 50 * ranks, "rank %d has counted %d", to, got);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(memory[1] == 100 + from, "rank %d has put %d", from, memory[1]);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int me, ranks;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Aint *places = calloc((size_t)ranks, sizeof *places), mine;
    if (me == 1) forbid_cma();
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    use(win, places, me, ranks);
    MPI_Win_free(&win);
    if (me == 0) forbid_cma();
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, sizeof memory);
    MPI_Get_address(memory, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD);
    use(win, places, me, ranks);
    MPI_Win_free(&win);
    free(places);
    MPI_Finalize();
    return 0;
}
