/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: the answer is sent with another tag than the receive names. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, question = 6, answer;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Send(&question, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
        MPI_Recv(&answer, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(&question, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        answer = 7 * question;
        MPI_Send(&answer, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
