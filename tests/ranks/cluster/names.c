// SPDX-License-Identifier: BSD-3-Clause
// Processor names identify nodes, and MPI_COMM_TYPE_SHARED makes one communicator per node: all its ranks have the same
// name, and no rank on another node is in it. Also with a parent communicator in reverse order.
// ranks: 1 2 3 4 5 6 8
#include <string.h>

#include "tests/ranks/check.h"

enum { most = 64 };

static int rank, size;
static char names[most][MPI_MAX_PROCESSOR_NAME];

static void check_nodes_of(MPI_Comm comm) {
    int here, there = 0, order[most];
    MPI_Comm node;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Allgather(&rank, 1, MPI_INT, order, 1, MPI_INT, node);
    for (int i = 0; i < here; ++i)
        CHECK(!strcmp(names[order[i]], names[rank]), "rank %d of %s is on the node of %s", order[i], names[order[i]],
              names[rank]);
    for (int i = 0; i < size; ++i) there += !strcmp(names[i], names[rank]);
    CHECK(here == there, "%d ranks on %s instead of %d", here, names[rank], there);

    int first = -1;
    MPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, node);
    CHECK(!strcmp(names[first], names[rank]), "the first is %d", first);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv) {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = -1;
    MPI_Comm reverse;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0 && length == (int)strlen(name), "length %d of '%s'", length, name);
    MPI_Allgather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, MPI_COMM_WORLD);
    CHECK(!strcmp(names[rank], name), "'%s' instead of '%s'", names[rank], name);
    check_nodes_of(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
    check_nodes_of(reverse);
    MPI_Comm_free(&reverse);
    MPI_Finalize();
    return 0;
}
