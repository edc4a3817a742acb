// SPDX-License-Identifier: BSD-3-Clause
// Messages race on a communicator of some ranks; the report has the ranks of that communicator.
// ranks: 4
// expect: warning T12 ranks 1
// mpiexec: --check
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &part);
    int x = rank;
    if (rank == 1) {
        sleep(1);
        for (int i = 0; i < 2; i++) MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, part, MPI_STATUS_IGNORE);   // HERE 1
    } else if (rank > 1) {
        MPI_Send(&x, 1, MPI_INT, 0, 0, part);
    }
    MPI_Comm_free(&part);
    MPI_Finalize();
    return 0;
}
