// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 receives tag 2 first, but rank 0 sends it only after the large message with tag 1 was received.
// ranks: 2
// expect: T02 ranks 0-1
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int count = 1 << 22;
    char* data = calloc(count, 1);
    MPI_Message message;
    if (rank == 0) {
        MPI_Send(data, count, MPI_CHAR, 1, 1, MPI_COMM_WORLD);   // HERE 0
        MPI_Send(data, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    } else {
        MPI_Mprobe(0, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);   // HERE 1
        MPI_Mrecv(data, 1, MPI_CHAR, &message, MPI_STATUS_IGNORE);
        MPI_Recv(data, count, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
