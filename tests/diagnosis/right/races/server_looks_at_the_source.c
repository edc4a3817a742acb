// SPDX-License-Identifier: BSD-3-Clause
// A server answers each client and uses the source of the request; the order does not matter.
// ranks: 3 4
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int question = rank, answer;
    if (rank == 0) {
        usleep(300000);
        for (int i = 1; i < size; i++) {
            MPI_Status status;
            MPI_Recv(&question, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
            answer = 2 * question;
            MPI_Send(&answer, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD);
        }
    } else {
        MPI_Send(&question, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&answer, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (answer != 2 * rank) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
