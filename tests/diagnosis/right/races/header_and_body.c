// SPDX-License-Identifier: BSD-3-Clause
// Each message of any source is followed by one of the same source and tag. Messages of one sender do not overtake each
// other, so the receive of the header never matches the body of another sender.
// ranks: 3 5
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 3; round++) {
        int header = rank, body[2] = {rank, round};
        if (rank > 0) {
            MPI_Send(&header, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
            MPI_Send(body, 2, MPI_INT, 0, 7, MPI_COMM_WORLD);
            continue;
        }
        for (int i = 1; i < size; i++) {
            MPI_Status status;
            MPI_Recv(&header, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
            MPI_Recv(body, 2, MPI_INT, status.MPI_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (body[0] != header) MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    MPI_Finalize();
    return 0;
}
