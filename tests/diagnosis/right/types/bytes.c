// SPDX-License-Identifier: BSD-3-Clause
// Data sent as MPI_BYTE or MPI_PACKED may be received as any type, and vice versa.
// ranks: 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double a[4] = {1, 2, 3, 4}, b[4];
    static MPI_Datatype const any[] = {MPI_BYTE, MPI_PACKED};
    for (int i = 0; i < 2; i++) {
        if (rank == 0) {
            MPI_Send(a, sizeof a, any[i], 1, 0, MPI_COMM_WORLD);
            MPI_Send(a, 4, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        }
        if (rank == 1) {
            MPI_Recv(b, 4, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(b, sizeof b, any[i], 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
