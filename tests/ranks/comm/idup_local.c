/* SPDX-License-Identifier: BSD-3-Clause */
/* While MPI_Comm_idup is pending, the new communicator supports all local calls: error handler, name, attributes,
 * hints, group and topology. Settings made at that time are kept. Communication calls fail, and the new error handler
 * is called. */
// ranks: 1 2 4
#include <string.h>

#include "tests/ranks/check.h"

static int errors, error_class, rank, size;

static void count_error(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    ++errors;
    MPI_Error_class(*code, &error_class);
}

static void refused(MPI_Comm twin) {
    int x = 0;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Comm other;
    errors = 0;
    FAILS(MPI_ERR_COMM, MPI_Send(&x, 1, MPI_INT, 0, 0, twin));
    FAILS(MPI_ERR_COMM, MPI_Irecv(&x, 1, MPI_INT, 0, 0, twin, &r));
    FAILS(MPI_ERR_COMM, MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, twin));
    FAILS(MPI_ERR_COMM, MPI_Ibarrier(twin, &r));
    FAILS(MPI_ERR_COMM, MPI_Comm_dup(twin, &other));
    CHECK(errors == 5 && error_class == MPI_ERR_COMM, "its error handler was called %d times", errors);
}

static void local_calls(MPI_Comm ring, MPI_Comm twin, MPI_Errhandler handler, int keyval, void *value) {
    int n = -1, kind = -1, length, coord = -1;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Group group;
    MPI_Info info;
    MPI_Errhandler now;
    CHECK(MPI_Comm_set_errhandler(twin, handler) == MPI_SUCCESS, "%s", "no error handler");
    MPI_Comm_get_errhandler(twin, &now);
    CHECK(now == handler, "%s", "another error handler");
    MPI_Errhandler_free(&now);
    MPI_Comm_set_name(twin, "twin");
    MPI_Comm_get_name(twin, name, &length);
    CHECK(!strcmp(name, "twin"), "name '%s'", name);
    MPI_Comm_set_attr(twin, keyval, value);
    MPI_Comm_size(twin, &n);
    CHECK(n == size, "size %d", n);
    MPI_Comm_rank(twin, &n);
    CHECK(n == rank, "rank %d", n);
    MPI_Comm_compare(ring, twin, &n);
    CHECK(n == MPI_CONGRUENT, "compared: %d", n);
    MPI_Comm_test_inter(twin, &n);
    CHECK(n == 0, "inter %d", n);
    MPI_Comm_group(twin, &group);
    MPI_Group_size(group, &n);
    CHECK(n == size, "group of %d", n);
    MPI_Group_free(&group);
    MPI_Topo_test(twin, &kind);
    MPI_Cart_coords(twin, rank, 1, &coord);
    CHECK(kind == MPI_CART && coord == rank, "topology %d, at %d", kind, coord);
    MPI_Info_create(&info);
    MPI_Info_set(info, "tutti_coll_allreduce", "ring");
    MPI_Comm_set_info(twin, info);
    MPI_Info_free(&info);
}

static void kept(MPI_Comm twin, MPI_Errhandler handler, int keyval, void *value) {
    char text[MPI_MAX_OBJECT_NAME] = "";
    int length, found = 0, sum = 0;
    void *attribute = NULL;
    MPI_Errhandler now;
    MPI_Info info;
    MPI_Comm_get_name(twin, text, &length);
    CHECK(!strcmp(text, "twin"), "name '%s'", text);
    MPI_Comm_get_attr(twin, keyval, &attribute, &found);
    CHECK(found && attribute == value, "attribute: %d", found);
    MPI_Comm_get_errhandler(twin, &now);
    CHECK(now == handler, "%s", "another error handler");
    MPI_Errhandler_free(&now);
    MPI_Comm_get_info(twin, &info);
    MPI_Info_get(info, "tutti_coll_allreduce", MPI_MAX_OBJECT_NAME - 1, text, &found);
    CHECK(found && !strcmp(text, "ring"), "hint '%s'", text);
    MPI_Info_free(&info);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, twin);
    CHECK(sum == size * (size - 1) / 2, "sum %d", sum);
}

int main(int argc, char **argv) {
    int keyval, mark, under_way;
    MPI_Comm ring, twin;
    MPI_Request request;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring);
    for (int round = 0; round < 20; ++round) {
        /* Rank 0 calls last, so that the other ranks' requests cannot be complete. */
        if (rank == 0)
            for (int r = 1; r < size; ++r) MPI_Recv(NULL, 0, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_idup(ring, &twin, &request);
        under_way = rank > 0;
        local_calls(ring, twin, handler, keyval, &mark);
        if (under_way) refused(twin);
        if (rank > 0) MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        kept(twin, handler, keyval, &mark);
        MPI_Comm_free(&twin);

        /* The communicator is freed before it is complete: the request still completes at all ranks. */
        MPI_Comm_idup(ring, &twin, &request);
        MPI_Comm_free(&twin);
        CHECK(twin == MPI_COMM_NULL, "%s", "the handle is still there");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&ring);
    MPI_Comm_free_keyval(&keyval);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
