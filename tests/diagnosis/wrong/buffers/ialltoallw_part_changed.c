// SPDX-License-Identifier: BSD-3-Clause
// One column of the send buffer of MPI_Ialltoallw is changed; each column is one part.
// ranks: 2
// expect: T10 ranks 1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double out[4][4] = {{0}}, in[4][4] = {{0}};
    int counts[2] = {1, 1}, displacements[2] = {0, 2 * sizeof(double)};
    MPI_Datatype column, types[2];
    MPI_Type_vector(4, 1, 4, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    types[0] = types[1] = column;
    MPI_Request request;
    MPI_Ialltoallw(out, counts, displacements, types, in, counts, displacements, types, MPI_COMM_WORLD,
                   &request);   // HERE 1
    if (rank == 1) out[3][2] = 5;
    MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}
