// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 is a member of the group but waits for a message before it calls MPI_Comm_create_group.
// ranks: 3
// expect: T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int members[2] = {0, 1}, x = 0;
    MPI_Group world, pair;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, members, &pair);
    if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    if (rank < 2) {
        MPI_Comm_create_group(MPI_COMM_WORLD, pair, 0, &comm);   // HERE 0
        MPI_Barrier(comm);                                       // HERE 0
        if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&pair);
    MPI_Group_free(&world);
    MPI_Finalize();
    return 0;
}
