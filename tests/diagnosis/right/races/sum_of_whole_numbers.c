// SPDX-License-Identifier: BSD-3-Clause
// A loop sums integers from two senders in any order.
// ranks: 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    if (rank == 0) {
        for (int i = 0; i < 6; i++) {
            MPI_Request request;
            MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            sum += x;
        }
        if (sum != 9) MPI_Abort(MPI_COMM_WORLD, 1);
    } else if (rank < 3) {
        for (int i = 0; i < 3; i++) MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
