// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 makes the error that the first argument names, in a collective in which no rank waits forever.
// ranks: 2 3
// args: nothing
#include <mpi.h>
#include <string.h>

static int rank, wrong, in[64], out[256];
static const char* error_kind;

/// Returns whether this rank makes that error.
static int is(const char* name) { return wrong && strcmp(error_kind, name) == 0; }

static void right_calls(int n) {
    for (int i = 0; i < n; ++i) {
        MPI_Bcast(in, 4, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void movements(void) {
    if (is("function")) MPI_Barrier(MPI_COMM_WORLD);
    else MPI_Bcast(in, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(in, is("count") ? 8 : 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(in, 1, MPI_INT, is("root"), MPI_COMM_WORLD);
    if (is("nonblocking")) {
        MPI_Request request;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else MPI_Barrier(MPI_COMM_WORLD);
    MPI_Alltoall(in, 2, is("alltoall") ? MPI_FLOAT : MPI_INT, out, 2, is("alltoall") ? MPI_FLOAT : MPI_INT,
                 MPI_COMM_WORLD);
}

static void reductions(void) {
    MPI_Allreduce(in, out, 1, MPI_INT, is("operator") ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(in, out, 1, is("type") ? MPI_FLOAT : MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Allreduce_init(in, out, 1, MPI_INT, is("persistent") ? MPI_MIN : MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    MPI_Request_free(&request);
}

static void two_communicators(void) {
    MPI_Comm one, other;
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_name(one, "one");
    MPI_Comm_set_name(other, "other");
    MPI_Barrier(is("order") ? other : one);
    MPI_Barrier(is("order") ? one : other);
    MPI_Bcast(in, is("freed") ? 3 : 2, MPI_INT, 0, one);
    MPI_Barrier(other);
    MPI_Comm_free(&one);
    MPI_Comm_free(&other);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    wrong = rank == 1;
    error_kind = argc > 1 ? argv[1] : "nothing";
    right_calls(strcmp(error_kind, "type") == 0 ? 100 : 1);   // the diagnosis knows these calls by then
    movements();
    reductions();
    two_communicators();
    if (!is("end") || rank != 1) right_calls(strcmp(error_kind, "type") == 0 ? 20 : 1);
    MPI_Finalize();
    return 0;
}
