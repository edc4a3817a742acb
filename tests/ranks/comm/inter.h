/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes intercommunicators over the whole world, cut in two in several ways. */
#ifndef TUTTI_TESTS_INTER_H
#define TUTTI_TESTS_INTER_H

#include "tests/ranks/check.h"

enum { cuts = 4 };

/* The side of a world rank in cut `cut`: interleaved, one rank against the rest at either end, or halves. */
static inline int side_of(int cut, int world_rank, int world_size) {
    switch (cut) {
        case 0: return world_rank % 2;
        case 1: return world_rank > 0;
        case 2: return world_rank < world_size - 1;
        default: return world_rank < (world_size + 1) / 2;
    }
}

/* Makes the intercommunicator of a cut. Ranks are in world order on both sides, or reversed on side 1. */
static inline MPI_Comm make_inter(int cut, int reversed, MPI_Comm *side) {
    int rank, size, local_size, leaders[2] = {-1, -1};
    MPI_Comm local, inter;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = side_of(cut, rank, size);
    MPI_Comm_split(MPI_COMM_WORLD, mine, reversed && mine ? -rank : rank, &local);
    MPI_Comm_size(local, &local_size);
    /* The leader is the first or the last rank of the side in world order. */
    for (int r = 0; r < size; ++r)
        if (leaders[side_of(cut, r, size)] < 0 || cut % 2) leaders[side_of(cut, r, size)] = r;
    int first_leads = reversed && mine ? cut % 2 : !(cut % 2);
    MPI_Intercomm_create(local, first_leads ? 0 : local_size - 1, MPI_COMM_WORLD, leaders[!mine], 7, &inter);
    if (side) *side = local;
    else MPI_Comm_free(&local);
    return inter;
}

#endif
