// SPDX-License-Identifier: BSD-3-Clause
// The request of the send is freed instead of waited for, so nothing determines when its buffer may be changed.
// ranks: 2 3
// expect: warning T07 ranks all
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int out = rank, in;
    MPI_Request send, receive;
    MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &send);   // HERE all
    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &receive);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Request_free(&send);   // HERE all
    MPI_Finalize();
    return 0;
}
