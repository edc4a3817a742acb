/* SPDX-License-Identifier: BSD-3-Clause */
/* Determines the world ranks on this rank's node, for tests of MPI_COMM_TYPE_SHARED on one node and on several. */
#ifndef TUTTI_TESTS_NODE_H
#define TUTTI_TESTS_NODE_H

#include <string.h>

#include "tests/ranks/check.h"

/* Keeps the world ranks that are on this rank's node, of `n`. Collective over the world; returns their number. */
static inline int keep_ranks_on_node(int n, int *world_ranks) {
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

/* Returns whether all ranks of the world are on one node. Between nodes, a call costs up to a hundred times as much,
 * and tests with many calls make fewer. Collective over the world. */
static inline int is_single_node(void) {
    MPI_Comm node;
    int here, size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_free(&node);
    return here == size;
}

#endif
