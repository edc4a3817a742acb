// SPDX-License-Identifier: BSD-3-Clause
// A profiling tool's functions replace the MPI functions for the program only: the library never calls an MPI_ name,
// and PMPI_ names always reach the library.
// ranks: 1 2 4
// alone: it defines MPI functions
#include "tests/ranks/check.h"

static int sends, receives, barriers, inits;

int MPI_Init(int *argc, char ***argv) {
    ++inits;
    return PMPI_Init(argc, argv);
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    ++sends;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    ++receives;
    return PMPI_Recv(buf, count, datatype, source, tag, comm, status);
}

int MPI_Barrier(MPI_Comm comm) {
    ++barriers;
    return PMPI_Barrier(comm);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, value = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        for (int to = 1; to < size; ++to) MPI_Send(&to, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(rank == 0 || value == rank, "received %d", value);
    MPI_Barrier(MPI_COMM_WORLD);
    PMPI_Barrier(MPI_COMM_WORLD);

    MPI_Comm copy;
    int sum;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy);
    MPI_Comm_free(&copy);
    CHECK(sum == size * (size - 1) / 2, "sum %d", sum);
    CHECK(inits == 1, "%d calls of MPI_Init", inits);
    CHECK(sends == (rank == 0 ? size - 1 : 0) && receives == (rank != 0), "%d sends, %d receives", sends, receives);
    MPI_Finalize();
    CHECK(barriers == 1, "%d barriers: the library calls MPI_Barrier itself", barriers);
    return 0;
}
