// SPDX-License-Identifier: BSD-3-Clause
// Persistent sends and receives, whose buffers are used between the steps.
// ranks: 2 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double in[64], out[64];
    MPI_Request requests[2];
    MPI_Recv_init(in, 64, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 64, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
    for (int step = 0; step < 10; step++) {
        for (int i = 0; i < 64; i++) out[i] = step, in[i] = -1;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (in[63] != step) MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Finalize();
    return 0;
}
