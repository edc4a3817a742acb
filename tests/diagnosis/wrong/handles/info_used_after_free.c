// SPDX-License-Identifier: BSD-3-Clause
// An info object is queried after it was freed.
// ranks: 2
// expect: T13 one of 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info info, copy;
    int keys;
    MPI_Info_create(&info);
    copy = info;
    MPI_Info_free(&info);              // HERE 0-1
    MPI_Info_get_nkeys(copy, &keys);   // HERE 0-1
    MPI_Finalize();
    return 0;
}
