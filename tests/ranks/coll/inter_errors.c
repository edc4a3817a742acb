/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments of collectives on intercommunicators are errors at the caller before it starts any communication.
 * Mismatches are reported with the rank in the remote group. */
// ranks: 2 3 5
#include <string.h>

#include "../comm/inter.h"

static void expect_message(const char *part, int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, part), "the message is: %s", text);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, remotes, me, a[64] = {0}, b[64];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm inter = make_inter(0, 0, NULL);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_remote_size(inter, &remotes);
    MPI_Comm_rank(inter, &me);

    FAILS(MPI_ERR_ROOT, MPI_Bcast(a, 1, MPI_INT, remotes, inter));
    FAILS(MPI_ERR_ROOT, MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, -5, inter));
    FAILS(MPI_ERR_ROOT, MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, remotes, inter));
    expect_message("MPI_ROOT, MPI_PROC_NULL or a rank of the remote group",
                   MPI_Ibcast(a, 1, MPI_INT, remotes, inter, &request));
    FAILS(MPI_ERR_COMM, MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, inter));
    FAILS(MPI_ERR_COMM, MPI_Exscan(a, b, 1, MPI_INT, MPI_SUM, inter));
    FAILS(MPI_ERR_COMM, MPI_Iscan(a, b, 1, MPI_INT, MPI_SUM, inter, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Allreduce(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, 0, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce_scatter_block(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, inter));
    FAILS(MPI_ERR_COUNT, MPI_Bcast(a, -1, MPI_INT, MPI_ROOT, inter));
    FAILS(MPI_ERR_TYPE, MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Allgather(a, 1, MPI_INT, a, 1, MPI_INT, inter));
    CHECK(request == MPI_REQUEST_NULL, "request %x", request);

    /* The last remote rank sends two elements where one is expected. */
    int code, mine = me == (rank % 2 ? size / 2 : (size + 1) / 2) - 1 ? 2 : 1;
    code = MPI_Allgather(a, mine, MPI_INT, b, 1, MPI_INT, inter);
    FAILS(MPI_ERR_TRUNCATE, code);
    char want[32];
    snprintf(want, sizeof want, "rank %d sent 8 bytes", remotes - 1);
    expect_message(want, code);
    MPI_Barrier(inter);
    MPI_Comm_free(&inter);
    MPI_Finalize();
    return 0;
}
