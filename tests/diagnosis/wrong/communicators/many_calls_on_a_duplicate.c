// SPDX-License-Identifier: BSD-3-Clause
// The program calls a thousand broadcasts on a duplicate; the last rank passes another type in one of the first.
// ranks: 2 4
// expect: T04 ranks last
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, number[2] = {0};
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 1000; i++) {
        int const odd = i == 5 && rank == size - 1;
        MPI_Bcast(number, 1, odd ? MPI_FLOAT : MPI_INT, i % size, comm);   // HERE 0-last
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
