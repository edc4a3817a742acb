// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 sends to rank 0 more than that rank has room for, which is found when rank 0 waits.
// ranks: 2 3
// expect: T04 ranks 0-1
// one node: the call at which a rank of another node started a request is not known
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, sum, out[4] = {0}, in[4], sent[4] = {1, 1, 1, 1}, ones[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3};
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) sent[0] = 3;
    MPI_Ialltoallv(out, sent, places, MPI_INT, in, ones, places, MPI_INT, MPI_COMM_WORLD, &request);   // HERE 0-1
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
