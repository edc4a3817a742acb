/* SPDX-License-Identifier: BSD-3-Clause */
/* Names, hints, error handlers and other properties of communicators, and which of them duplicates and parts
 * inherit. */
// ranks: 1 3
#include <string.h>

#include "tests/ranks/check.h"

static int rank, size;

static void names(void) {
    char name[MPI_MAX_OBJECT_NAME], longer[300];
    int length;
    MPI_Comm copy;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(!strcmp(name, "MPI_COMM_WORLD") && length == 14, "name %s of length %d", name, length);
    MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
    CHECK(!strcmp(name, "MPI_COMM_SELF"), "name %s", name);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_get_name(copy, name, &length);
    CHECK(length == 0 && name[0] == 0, "name %s", name);
    MPI_Comm_set_name(copy, "a name");
    MPI_Comm_get_name(copy, name, &length);
    CHECK(!strcmp(name, "a name") && length == 6, "name %s of length %d", name, length);
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    MPI_Comm_set_name(copy, longer);
    MPI_Comm_get_name(copy, name, &length);
    CHECK(length == MPI_MAX_OBJECT_NAME - 1 && name[length] == 0, "length %d", length);
    MPI_Comm_free(&copy);
}

static void is_hint(MPI_Comm comm, const char *key, const char *want) {
    MPI_Info info;
    char value[64] = "";
    int there;
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get(info, key, 63, value, &there);
    MPI_Info_free(&info);
    CHECK(there == (want != NULL), "hint %s is there: %d", key, there);
    if (want) CHECK(!strcmp(value, want), "hint %s is %s", key, value);
}

static void hints(void) {
    MPI_Comm comm, copy;
    MPI_Info info;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    is_hint(comm, "tutti_first", NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "tutti_first", "1");
    MPI_Comm_set_info(comm, info);
    MPI_Info_delete(info, "tutti_first");
    MPI_Info_set(info, "mpi_assert_second", "2");
    MPI_Comm_set_info(comm, info);
    is_hint(comm, "tutti_first", "1");
    is_hint(comm, "mpi_assert_second", "2");
    MPI_Info_set(info, "something_else", "3");
    MPI_Comm_set_info(comm, info);
    is_hint(comm, "something_else", NULL);

    MPI_Comm_dup(comm, &copy);
    is_hint(copy, "tutti_first", NULL);   /* since MPI 4.0 */
    MPI_Comm_free(&copy);
    MPI_Request made;
    MPI_Comm_idup(comm, &copy, &made);
    MPI_Wait(&made, MPI_STATUS_IGNORE);
    is_hint(copy, "tutti_first", NULL);
    MPI_Comm_free(&copy);
    MPI_Comm_dup_with_info(comm, info, &copy);
    is_hint(copy, "tutti_first", NULL);
    is_hint(copy, "mpi_assert_second", "2");
    MPI_Info_set(info, "mpi_assert_second", "changed later");
    is_hint(copy, "mpi_assert_second", "2");
    MPI_Comm_free(&copy);
    MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy);
    is_hint(copy, "mpi_assert_second", NULL);
    MPI_Comm_free(&copy);
    MPI_Comm_split(comm, 0, 0, &copy);
    is_hint(copy, "tutti_first", NULL);
    MPI_Comm_free(&copy);
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
}

static int called;
static void handler(MPI_Comm *comm, int *code, ...) { ++called; }

static void error_handlers(void) {
    MPI_Comm comm, made[5];
    MPI_Errhandler mine;
    MPI_Group group;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(comm, mine);
    MPI_Errhandler_free(&mine);
    MPI_Comm_group(comm, &group);
    MPI_Comm_dup(comm, &made[0]);
    MPI_Comm_split(comm, 0, 0, &made[1]);
    MPI_Comm_create(comm, group, &made[2]);
    MPI_Comm_create_group(comm, group, 0, &made[3]);
    MPI_Cart_create(comm, 1, &size, &size, 0, &made[4]);
    MPI_Comm_free(&comm);
    for (int i = 0; i < 5; ++i) {
        called = 0;
        MPI_Send(NULL, 0, MPI_INT, size + 1, 0, made[i]);
        CHECK(called == 1, "communicator %d: the handler was called %d times", i, called);
        MPI_Comm_free(&made[i]);
    }
    MPI_Group_free(&group);
}

static void is_intra(void) {
    int flag = 1;
    MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
    CHECK(flag == 0, "MPI_COMM_WORLD is reported as an intercommunicator: %d", flag);
}

static void no_parent(void) {
    MPI_Comm parent = MPI_COMM_WORLD;
    CHECK(MPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent == MPI_COMM_NULL, "the parent is %x", parent);
    FAILS(MPI_ERR_ARG, MPI_Comm_get_parent(NULL));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    names();
    hints();
    error_handlers();
    is_intra();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    no_parent();
    MPI_Finalize();
    return 0;
}
