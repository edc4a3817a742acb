// SPDX-License-Identifier: BSD-3-Clause
// Active requests are freed where that is correct: a send that is answered, by a message or a collective, before its
// buffer is changed; a send that is freed directly after its start; a cancelled receive.
// ranks: 2 3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int out = rank, in, token = 0, next = (rank + 1) % size, last = (rank + size - 1) % size;
    static int kept;
    MPI_Request send, receive;
    for (int step = 0; step < 3; step++) {
        MPI_Isend(&out, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &send);
        MPI_Recv(&in, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Request_free(&send);
        MPI_Sendrecv(&token, 1, MPI_INT, last, 1, &token, 1, MPI_INT, next, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        out += 10;
    }
    MPI_Isend(&out, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &send);
    MPI_Recv(&in, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request_free(&send);
    MPI_Allreduce(MPI_IN_PLACE, &token, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Irecv(&in, 1, MPI_INT, last, 2, MPI_COMM_WORLD, &receive);
    MPI_Cancel(&receive);
    MPI_Request_free(&receive);
    MPI_Isend(&kept, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &send);
    MPI_Request_free(&send);
    MPI_Recv(&in, 1, MPI_INT, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
