// SPDX-License-Identifier: BSD-3-Clause
// A profiling layer intercepts MPI_Recv and sleeps before and after the call.
// ranks: 2
// whole: defines its own MPI_Recv
#include <unistd.h>

#include <mpi.h>

int MPI_Recv(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    usleep(150000);
    int code = PMPI_Recv(data, count, type, source, tag, comm, status);
    usleep(150000);
    return code;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    if (rank == 0) MPI_Ssend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_INT, 1 - rank, rank ? 0 : 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Ssend(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
