// SPDX-License-Identifier: BSD-3-Clause
// MPI_Mrecv consumes the message; a copy of its handle is received again.
// ranks: 2
// expect: MPI_ERR_REQUEST ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[2] = {rank, rank};
    if (rank == 0) {
        MPI_Message message, copy;
        MPI_Mprobe(1, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        copy = message;
        MPI_Mrecv(x, 2, MPI_INT, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(x, 2, MPI_INT, &copy, MPI_STATUS_IGNORE);   // HERE 0
    } else {
        MPI_Send(x, 2, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
