// SPDX-License-Identifier: BSD-3-Clause
// Only the even ranks duplicate the communicator, although MPI_Comm_dup is collective. With --check it waits for all
// ranks; the odd ranks then wait for a message of an even one, after which they could still call MPI_Comm_dup.
// ranks: 2 4
// expect: T03 one of all
// expect nodes: T01 or T03 one of all
// expect checked: T01 one of all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    MPI_Comm copy;
    if (rank % 2 == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);   // HERE 0 2
        MPI_Send(&x, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
        MPI_Comm_free(&copy);
    } else {
        MPI_Recv(&x, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1 3
    }
    MPI_Finalize();   // HERE 1 3
    return 0;
}
