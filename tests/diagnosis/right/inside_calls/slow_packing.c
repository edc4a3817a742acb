// SPDX-License-Identifier: BSD-3-Clause
// A message of millions of single bytes with gaps, whose copy takes longer than the deadlock detector's interval.
// ranks: 2
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int const count = 1 << 24;
    char* bytes = calloc(count, 3);
    MPI_Datatype gaps;
    MPI_Type_vector(count, 1, 3, MPI_CHAR, &gaps);
    MPI_Type_commit(&gaps);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) MPI_Send(bytes, 1, gaps, 1, 0, MPI_COMM_WORLD);
        else MPI_Recv(bytes, 1, gaps, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(bytes, 1, gaps, 0, MPI_COMM_WORLD);
    MPI_Type_free(&gaps);
    free(bytes);
    MPI_Finalize();
    return 0;
}
