// SPDX-License-Identifier: BSD-3-Clause
// Dynamic sparse data exchange: synchronous sends, probes, and a nonblocking barrier that each rank starts when its
// sends are complete.
// ranks: 3 8
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = rank, theirs, flag, entered = 0, done = 0, received = 0;
    MPI_Request send, barrier;
    MPI_Status status;
    MPI_Issend(&mine, 1, MPI_INT, (rank * 2 + 1) % size, 0, MPI_COMM_WORLD, &send);
    while (!done) {
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, &status);
        if (flag) {
            MPI_Recv(&theirs, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            received++;
        }
        if (entered) {
            MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        } else {
            MPI_Test(&send, &entered, MPI_STATUS_IGNORE);
            if (entered) MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        }
    }
    MPI_Finalize();
    return 0;
}
