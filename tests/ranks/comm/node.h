/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks of the world are on this one's node, for tests of MPI_COMM_TYPE_SHARED on one node and on several. */
#ifndef TUTTI_TESTS_NODE_H
#define TUTTI_TESTS_NODE_H

#include <string.h>

#include "tests/ranks/check.h"

/* Keeps those of `n` world ranks that are on this rank's node. Collective over the world; returns how many. */
static inline int on_this_node(int n, int *world_ranks) {
    char mine[MPI_MAX_PROCESSOR_NAME] = "", (*names)[MPI_MAX_PROCESSOR_NAME];
    int length, size, kept = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    names = malloc((size_t)size * sizeof *names);
    MPI_Get_processor_name(mine, &length);
    MPI_Allgather(mine, sizeof mine, MPI_CHAR, names, sizeof mine, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < n; ++i)
        if (!strcmp(names[world_ranks[i]], mine)) world_ranks[kept++] = world_ranks[i];
    free(names);
    return kept;
}

/* Are all ranks of the world on one node? A call costs up to a hundred times as much between several: long runs of
 * calls are shorter there. Collective over the world. */
static inline int on_one_node(void) {
    MPI_Comm node;
    int here, size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_free(&node);
    return here == size;
}

#endif
