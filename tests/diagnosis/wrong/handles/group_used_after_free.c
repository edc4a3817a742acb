// SPDX-License-Identifier: BSD-3-Clause
// A communicator is created from a group that was freed.
// ranks: 2
// expect: T13 one of 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Group all, copy;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    copy = all;
    MPI_Group_free(&all);                           // HERE 0-1
    MPI_Comm_create(MPI_COMM_WORLD, copy, &comm);   // HERE 0-1
    MPI_Finalize();
    return 0;
}
