/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments on intercommunicators: each returns its error class at every caller, and no rank is left waiting. */
// ranks: 2 3 5
#include <string.h>

#include "tests/ranks/comm/inter.h"

static int called;
static void handler(MPI_Comm *comm, int *code, ...) { ++called; }

static int copied;
static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
    ++copied;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

/* Names, hints, attributes and error handlers of an intercommunicator. */
static void belongings(MPI_Comm inter) {
    char name[MPI_MAX_OBJECT_NAME], text[16] = "";
    int length, keyval, there, value = 5, *got = NULL;
    MPI_Comm dup;
    MPI_Info info;
    MPI_Errhandler mine;
    MPI_Comm_get_name(inter, name, &length);
    CHECK(length == 0, "name %s", name);
    MPI_Comm_set_name(inter, "bridge");
    MPI_Comm_get_name(inter, name, &length);
    CHECK(!strcmp(name, "bridge"), "name %s", name);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_set_info(inter, info);
    MPI_Info_free(&info);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(inter, keyval, &value);
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(inter, mine);
    MPI_Errhandler_free(&mine);
    copied = called = 0;
    MPI_Comm_dup(inter, &dup);
    MPI_Comm_get_attr(dup, keyval, &got, &there);
    CHECK(copied == 1 && there && got == &value, "copied %d times, there %d", copied, there);
    MPI_Comm_get_info(dup, &info);
    MPI_Info_get(info, "mpi_assert_no_any_tag", 15, text, &there);
    CHECK(!there, "a duplicate inherits the hint %s", text);
    MPI_Info_free(&info);
    MPI_Send(NULL, 0, MPI_INT, 64, 0, dup);
    CHECK(called == 1, "the handler was called %d times", called);
    MPI_Comm_free(&dup);
    MPI_Comm_free_keyval(&keyval);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
}

static void expect_message(const char *part, int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, part), "the message is: %s", text);
}

static void uses(MPI_Comm inter) {
    int locals, remotes, n, me, dims = 1, periods = 0, edge = 1;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group;
    MPI_Comm_size(inter, &locals);
    MPI_Comm_rank(inter, &me);
    MPI_Comm_remote_size(inter, &remotes);
    FAILS(MPI_ERR_RANK, MPI_Send(NULL, 0, MPI_INT, remotes, 0, inter));
    FAILS(MPI_ERR_RANK, MPI_Recv(NULL, 0, MPI_INT, remotes, 0, inter, MPI_STATUS_IGNORE));
    expect_message("remote group has", MPI_Send(NULL, 0, MPI_INT, remotes, 0, inter));
    FAILS(MPI_ERR_ARG, MPI_Comm_remote_size(inter, NULL));
    FAILS(MPI_ERR_ARG, MPI_Comm_remote_group(inter, NULL));
    FAILS(MPI_ERR_ARG, MPI_Comm_test_inter(inter, NULL));
    MPI_Comm_remote_group(inter, &group);
    FAILS(MPI_ERR_GROUP, MPI_Comm_create(inter, group, &made));
    MPI_Group_free(&group);
    MPI_Comm_group(inter, &group);
    FAILS(MPI_ERR_COMM, MPI_Comm_create_group(inter, group, 0, &made));
    MPI_Group_free(&group);
    FAILS(MPI_ERR_COMM, MPI_Cart_create(inter, 1, &dims, &periods, 0, &made));
    FAILS(MPI_ERR_COMM, MPI_Cart_map(inter, 1, &dims, &periods, &n));
    FAILS(MPI_ERR_COMM, MPI_Graph_create(inter, 1, &edge, &n, 0, &made));
    FAILS(MPI_ERR_COMM, MPI_Dist_graph_create(inter, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(inter, &n));
    MPI_Topo_test(inter, &n);
    CHECK(n == MPI_UNDEFINED, "topology %d", n);
    FAILS(MPI_ERR_COMM, MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &made));
    FAILS(MPI_ERR_COMM, MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Intercomm_merge(inter, 0, NULL));
    if (locals > 1) {
        FAILS(MPI_ERR_ARG, MPI_Intercomm_merge(inter, me == 0, &made));
    } else {
        int rest_differ = remotes > 1;   /* the remote side's arguments are wrong */
        if (rest_differ) FAILS(MPI_ERR_ARG, MPI_Intercomm_merge(inter, 0, &made));
    }
    CHECK(made == MPI_COMM_NULL, "handle %x after failures", made);
}

/* The leader's arguments are wrong: all ranks of its group get an error. */
static void wrong_leaders(MPI_Comm local, MPI_Comm world) {
    int locals, me, size, first;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_size(local, &locals);
    MPI_Comm_rank(local, &me);
    MPI_Comm_size(world, &size);
    MPI_Comm_rank(world, &first);
    MPI_Bcast(&first, 1, MPI_INT, 0, local);
    int const leads = me == 0;
    FAILS(MPI_ERR_RANK, MPI_Intercomm_create(local, locals, world, 0, 0, &made));
    FAILS(MPI_ERR_RANK, MPI_Intercomm_create(local, -1, world, 0, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Intercomm_create(local, 0, world, 0, 0, NULL));
    FAILS(leads ? MPI_ERR_COMM : MPI_ERR_ARG, MPI_Intercomm_create(local, 0, MPI_COMM_NULL, 0, 0, &made));
    FAILS(leads ? MPI_ERR_RANK : MPI_ERR_ARG, MPI_Intercomm_create(local, 0, world, size, 0, &made));
    FAILS(leads ? MPI_ERR_RANK : MPI_ERR_ARG, MPI_Intercomm_create(local, 0, world, first, 0, &made));
    FAILS(leads ? MPI_ERR_TAG : MPI_ERR_ARG, MPI_Intercomm_create(local, 0, world, first ? 0 : size - 1, -1, &made));
    CHECK(made == MPI_COMM_NULL, "handle %x after failures", made);
}

/* Groups that overlap although they have different leaders. */
static void overlap(MPI_Comm world) {
    int rank, size;
    MPI_Comm without_first, made = MPI_COMM_NULL;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    if (size < 3) return;
    /* Ranks 0 and 1 call with their group; rank 2 calls with a group that also contains rank 1. */
    MPI_Comm_split(world, rank < 2 ? 0 : MPI_UNDEFINED, 0, &without_first);
    MPI_Group all, two;
    int ranks[2] = {2, 1};
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 2, ranks, &two);
    MPI_Comm other = MPI_COMM_NULL;
    if (rank == 1 || rank == 2) MPI_Comm_create_group(world, two, 3, &other);
    if (rank < 2) FAILS(MPI_ERR_COMM, MPI_Intercomm_create(without_first, 0, world, 2, 4, &made));
    if (rank == 1 || rank == 2) FAILS(MPI_ERR_COMM, MPI_Intercomm_create(other, 0, world, 0, 4, &made));
    MPI_Group_free(&all);
    MPI_Group_free(&two);
    if (other != MPI_COMM_NULL) MPI_Comm_free(&other);
    if (without_first != MPI_COMM_NULL) MPI_Comm_free(&without_first);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm local, inter = make_inter(1, 0, &local);
    belongings(inter);
    uses(inter);
    wrong_leaders(local, MPI_COMM_WORLD);
    overlap(MPI_COMM_WORLD);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
    MPI_Finalize();
    return 0;
}
