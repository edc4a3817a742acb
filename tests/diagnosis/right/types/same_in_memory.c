// SPDX-License-Identifier: BSD-3-Clause
// Different type names with the same representation: C and Fortran, long and long long, with and without a size.
// ranks: 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static MPI_Datatype const pairs[][2] = {
        {MPI_INT, MPI_INTEGER},  {MPI_INT, MPI_INT32_T},    {MPI_LONG, MPI_LONG_LONG},
        {MPI_INT64_T, MPI_AINT}, {MPI_FLOAT, MPI_REAL},     {MPI_DOUBLE, MPI_REAL8},
        {MPI_OFFSET, MPI_COUNT}, {MPI_CHAR, MPI_CHARACTER}, {MPI_UNSIGNED_LONG, MPI_UINT64_T}};
    long a[2] = {1, 2}, b[2];
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        for (int side = 0; side < 2; side++) {
            if (rank == 0) MPI_Send(a, 2, pairs[i][side], 1, 0, MPI_COMM_WORLD);
            if (rank == 1) MPI_Recv(b, 2, pairs[i][1 - side], 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    MPI_Finalize();
    return 0;
}
