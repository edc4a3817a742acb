// SPDX-License-Identifier: BSD-3-Clause
// The buffer of a buffered send is changed after the call, because the message was copied.
// ranks: 2
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 1;
    MPI_Request request;
    char* room = malloc(1000 + MPI_BSEND_OVERHEAD);
    int bytes;
    MPI_Buffer_attach(room, 1000 + MPI_BSEND_OVERHEAD);
    if (rank == 0) {
        MPI_Ibsend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        x = 2;
        MPI_Bsend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        x = 3;
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (x != 2) MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Buffer_detach(&room, &bytes);
    free(room);
    MPI_Finalize();
    return 0;
}
