// SPDX-License-Identifier: BSD-3-Clause
// MPI_Win_sync orders a rank's stores into a shared window before its later loads from it (4.1, 12.7): if two ranks
// each store a word, synchronize and load the other's word, at least one of them loads what the other stored. Without a
// fence, a processor may load before its store is visible.
// ranks: 2 4
// nodes: one, it tests shared windows
#include "tests/ranks/check.h"

enum { turns = 20000, line = 16 };   // in words of a cache line

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    // For each rank: the turn it has begun, and the word that it stores; each has its own cache line.
    int volatile* words;
    MPI_Win win;
    MPI_Win_allocate_shared(2 * line * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&words, &win);
    MPI_Aint bytes;
    int unit;
    int volatile* others;
    MPI_Win_shared_query(win, rank ^ 1, &bytes, &unit, (void*)&others);
    int* const loaded = malloc(turns * sizeof(int));
    words[0] = words[line] = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 1; turn <= turns; ++turn) {
        // Both ranks begin a turn at about the same time. The first waits for the other up to a limit, as they may
        // share a core.
        words[0] = turn;
        for (int patience = 0; others[0] < turn && patience < 1000; ++patience) MPI_Win_sync(win);
        for (int volatile delay = (rank & 1 ? turn : turn / 64) % 64; delay > 0; --delay) continue;
        words[line] = turn;
        MPI_Win_sync(win);
        loaded[turn - 1] = others[line];
    }
    MPI_Win_unlock_all(win);
    int* const others_loaded = malloc(turns * sizeof(int));
    MPI_Sendrecv(loaded, turns, MPI_INT, rank ^ 1, 0, others_loaded, turns, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int turn = 1; turn <= turns; ++turn) {
        // If a rank loads an old word, its own store came before the other rank's, which must load it.
        CHECK(loaded[turn - 1] >= turn || others_loaded[turn - 1] >= turn,
              "in turn %d neither rank has loaded what the other stored: %d, %d", turn, loaded[turn - 1],
              others_loaded[turn - 1]);
    }
    free(loaded);
    free(others_loaded);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
