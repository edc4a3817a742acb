// SPDX-License-Identifier: BSD-3-Clause
// Some ranks call MPI_Comm_split with MPI_UNDEFINED and continue without a communicator.
// ranks: 3 5
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 1, sum;
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &part);
    if (part != MPI_COMM_NULL) {
        if (rank == 0) usleep(300000);
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, part);
        MPI_Comm_free(&part);
    }
    MPI_Finalize();
    return 0;
}
