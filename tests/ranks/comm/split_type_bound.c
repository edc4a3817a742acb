/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits by hardware on the real machine, by the affinity that each rank has at the time of the call. */
// ranks: 1 2 4
// env: TUTTI_TUNING=none
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>

#include "tests/ranks/comm/node.h"

static MPI_Comm by_hwthread(void) {
    MPI_Comm made = MPI_COMM_WORLD;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "hwloc://PU");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &made);
    MPI_Info_free(&info);
    return made;
}

static int restricted(const char *key) {
    MPI_Info info;
    char value[8] = "";
    int flag = 0;
    MPI_Get_hw_resource_info(&info);
    MPI_Info_get(info, key, 7, value, &flag);
    MPI_Info_free(&info);
    CHECK(flag && (!strcmp(value, "true") || !strcmp(value, "false")), "%s is '%s'", key, value);
    return !strcmp(value, "true");
}

int main(int argc, char **argv) {
    cpu_set_t all, one;
    int me, size, here[64], on_node, members, first = 0;
    MPI_Comm made;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < size; ++i) here[i] = i;
    on_node = keep_ranks_on_node(size, here);
    sched_getaffinity(0, sizeof all, &all);
    CHECK(restricted("hwloc://Machine"), "rank %d is on several machines", me);
    CHECK(restricted("hwloc://PU") == (CPU_COUNT(&all) == 1), "of %d", CPU_COUNT(&all));
    made = by_hwthread();
    if (CPU_COUNT(&all) > 1) CHECK(made == MPI_COMM_NULL, "of %d hardware threads one was found", CPU_COUNT(&all));
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);

    /* All ranks on the same unit. */
    while (!CPU_ISSET(first, &all)) ++first;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0, "cannot be bound to %d", first);
    CHECK(restricted("hwloc://PU") && restricted("hwloc://Core"), "bound to %d", first);
    made = by_hwthread();
    MPI_Comm_size(made, &members);
    CHECK(members == on_node, "%d on the same hardware thread, not %d", members, on_node);
    MPI_Comm_free(&made);

    /* Each rank sets its own restriction: rank 0 can leave the unit, the others cannot. */
    if (me == 0) sched_setaffinity(0, sizeof all, &all);
    made = by_hwthread();
    if (CPU_COUNT(&all) > 1) CHECK((made == MPI_COMM_NULL) == (me == 0), "rank %d has %x", me, made);
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    MPI_Finalize();
    return 0;
}
