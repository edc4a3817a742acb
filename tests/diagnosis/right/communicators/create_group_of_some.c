// SPDX-License-Identifier: BSD-3-Clause
// Only the members of a group create its communicator; the others wait elsewhere.
// ranks: 3 4
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int members[2] = {0, 1}, x = 0;
    MPI_Group world, pair;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, members, &pair);
    if (rank < 2) {
        if (rank == 1) usleep(400000);
        MPI_Comm_create_group(MPI_COMM_WORLD, pair, 0, &comm);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Group_free(&pair);
    MPI_Group_free(&world);
    MPI_Finalize();
    return 0;
}
