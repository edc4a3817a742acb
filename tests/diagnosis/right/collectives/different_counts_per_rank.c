// SPDX-License-Identifier: BSD-3-Clause
// In gatherv and alltoallv each rank has another count, and some counts are 0.
// ranks: 2 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine[8] = {0}, all[64], counts[8], places[8], send[8] = {0}, none[8] = {0};
    for (int i = 0; i < size; i++) {
        counts[i] = i;
        places[i] = i * 8;
        send[i] = rank;
    }
    MPI_Gatherv(mine, rank, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Alltoallv(mine, send, none, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(mine, rank, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
