// SPDX-License-Identifier: BSD-3-Clause
// Results of three ranks are received from any source by nonblocking receives, in order of arrival.
// ranks: 4
// expect: warning T12 ranks 0
// mpiexec: --check
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int result[3], x = rank;
    MPI_Request requests[3];
    if (rank == 0) {
        sleep(1);
        for (int i = 0; i < 3; i++)
            MPI_Irecv(&result[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);   // HERE 0
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Send(&x, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
