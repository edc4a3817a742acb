// SPDX-License-Identifier: BSD-3-Clause
// The sender sleeps before each message; the receiver waits in every kind of call.
// ranks: 2
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[2], index, done, indices[2];
    MPI_Request requests[2];
    MPI_Message message;
    for (int step = 0; step < 6; step++) {
        if (rank == 0) {
            usleep(150000);
            for (int i = 0; i < 2; i++) MPI_Send(&step, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
            continue;
        }
        if (step == 4) MPI_Probe(0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (step == 5) {
            MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Imrecv(&x[0], 1, MPI_INT, &message, &requests[0]);
        } else {
            MPI_Irecv(&x[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
        }
        MPI_Irecv(&x[1], 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]);
        if (step == 0) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        if (step == 1) MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        if (step == 2) MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
