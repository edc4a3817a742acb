// SPDX-License-Identifier: BSD-3-Clause
// A group and an info object are not freed.
// ranks: 2
// expect: warning T08 ranks 0
// env: TUTTI_DIAGNOSIS=full
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Group group;
    MPI_Info info;
    if (rank == 0) MPI_Comm_group(MPI_COMM_WORLD, &group);   // HERE 0
    if (rank == 0) MPI_Info_create(&info);
    MPI_Finalize();
    return 0;
}
