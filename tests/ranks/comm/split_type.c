/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits by hardware on a pretended machine, where each rank has its own processing unit: two sockets with two NUMA
 * nodes of two cores each. Ranks are placed in order; up to eight ranks have a core each. */
// ranks: 1 2 4 8
// env: TUTTI_TOPOLOGY="socket:2 numa:2 core:2" TUTTI_TUNING=none
#include <string.h>

#include "tests/ranks/comm/node.h"

static int me, size, here[64], on_node, my_place;

/* Splits the world by `type` with this info key, in reverse rank order. */
static MPI_Comm guided(int type, const char *key, const char *value) {
    MPI_Comm made = MPI_COMM_WORLD;
    MPI_Info info;
    MPI_Info_create(&info);
    if (value) MPI_Info_set(info, key, value);
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, type, -me, info, &made) == MPI_SUCCESS, "%s", value ? value : "no value");
    MPI_Info_free(&info);
    return made;
}

/* Cores are filled in order, so `per` neighbours on a node share one unit. The key order is reversed. */
static void neighbours(MPI_Comm made, int per, const char *what) {
    int members, rank, first = my_place / per * per, last = first + per < on_node ? first + per : on_node;
    CHECK(made != MPI_COMM_NULL, "%s: none", what);
    MPI_Comm_size(made, &members);
    MPI_Comm_rank(made, &rank);
    CHECK(members == last - first, "%s: %d members instead of %d", what, members, last - first);
    CHECK(rank == last - 1 - my_place, "%s: rank %d", what, rank);
    MPI_Comm_free(&made);
}

static void each_kind(void) {
    neighbours(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory"), 64, "shared memory");
    neighbours(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://Machine"), 64, "machine");
    neighbours(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://Package"), 4, "package");
    neighbours(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "socket"), 4, "socket");
    neighbours(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "NUMANode"), 2, "NUMA node");
    neighbours(guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_hw_resource_type", "hwloc://numanode"), 2, "NUMA node");
    neighbours(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "Core"), 1, "core");
    neighbours(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://PU"), 1, "hardware thread");
}

static void none(MPI_Comm made, const char *what) { CHECK(made == MPI_COMM_NULL, "%s: %x", what, made); }

static void nothing(void) {
    MPI_Comm made = MPI_COMM_WORLD;
    none(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://Abacus"), "an unknown kind");
    none(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "slot"), "a slot");
    none(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", NULL), "no key");
    none(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_pset_name", "mpi://WORLD"), "a process set is no hardware");
    none(guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://OTHERS"), "an unknown set");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &made);
    none(made, "no info");
}

static void process_sets(void) {
    int members;
    MPI_Comm made = guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD");
    MPI_Comm_size(made, &members);
    CHECK(members == size, "%d in the world", members);
    MPI_Comm_free(&made);
    made = guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF");
    MPI_Comm_size(made, &members);
    CHECK(members == 1, "%d in mpi://SELF", members);
    MPI_Comm_free(&made);
}

/* Some ranks pass MPI_UNDEFINED, the others a type: the call is still collective. */
static void undefined(void) {
    MPI_Comm made = MPI_COMM_WORLD;
    MPI_Comm_split_type(MPI_COMM_WORLD, me == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &made);
    if (me == 0) none(made, "undefined");
    if (me != 0 && size > 1) CHECK(made != MPI_COMM_NULL, "%d: rank 0 alone has left", me);
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
}

/* Descends the hierarchy: each communicator is smaller than the one before, and names the resource that it shares. */
static void down(void) {
    static const char *names[] = {"hwloc://Machine", "hwloc://Package", "hwloc://NUMANode", "hwloc://L3Cache",
                                  "hwloc://L2Cache", "hwloc://Core", "hwloc://PU"};
    enum { kinds = sizeof names / sizeof *names };
    MPI_Comm now = MPI_COMM_WORLD, next;
    int members, before = size, level = 0;
    for (;;) {
        MPI_Comm_split_type(now, MPI_COMM_TYPE_HW_UNGUIDED, me, MPI_INFO_NULL, &next);
        if (now != MPI_COMM_WORLD) MPI_Comm_free(&now);
        if ((now = next) == MPI_COMM_NULL) break;
        char name[MPI_MAX_INFO_VAL + 1] = "";
        int flag = 0;
        MPI_Info info;
        MPI_Comm_get_info(now, &info);
        MPI_Info_get(info, "mpi_hw_resource_type", MPI_MAX_INFO_VAL, name, &flag);
        MPI_Info_free(&info);
        MPI_Comm_size(now, &members);
        CHECK(members < before, "%d members after %d", members, before);
        while (level < kinds && strcmp(names[level], name)) ++level;
        CHECK(flag && level < kinds, "'%s' is not a narrower kind of hardware", name);
        before = members;
    }
    CHECK(before == 1, "%d ranks are left together", before);
}

static void reported_in_info(void) {
    MPI_Info info;
    int flag, keys = 0;
    char value[8] = "";
    CHECK(MPI_Get_hw_resource_info(&info) == MPI_SUCCESS, "%s", "MPI_Get_hw_resource_info");
    MPI_Info_get_nkeys(info, &keys);
    CHECK(keys == 7, "%d keys", keys);
    MPI_Info_get(info, "hwloc://NUMANode", 7, value, &flag);
    CHECK(flag && !strcmp(value, "true"), "in one NUMA node: '%s'", value);
    MPI_Info_free(&info);
    FAILS(MPI_ERR_ARG, MPI_Get_hw_resource_info(NULL));
}

static void two_sides(void) {
    MPI_Comm half, inter, made;
    int members, others;
    if (size < 2) return;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 0, &inter);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "hwloc://Core");
    MPI_Comm_split_type(inter, MPI_COMM_TYPE_HW_GUIDED, 0, info, &made);
    none(made, "a core that only one side has");
    MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD");
    MPI_Info_delete(info, "mpi_hw_resource_type");
    MPI_Comm_split_type(inter, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &made);
    MPI_Comm_size(made, &members);
    MPI_Comm_remote_size(made, &others);
    CHECK(members + others == size, "%d and %d", members, others);
    MPI_Comm_free(&made);
    MPI_Info_free(&info);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < size; ++i) here[i] = i;
    on_node = keep_ranks_on_node(size, here);
    while (here[my_place] != me) ++my_place;
    each_kind();
    nothing();
    process_sets();
    undefined();
    down();
    reported_in_info();
    two_sides();
    MPI_Finalize();
    return 0;
}
