// SPDX-License-Identifier: BSD-3-Clause
// dies_in_message sender|receiver: rank 0 sends the last rank a message that takes seconds on a slow cable; one of
// these ranks is killed when a part of the message has arrived. The others wait in a barrier.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { bytes = 64 << 20, part = 1 << 20 };

int main(int argc, char **argv) {
    int rank, size, done = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const last = size - 1, sender_dies = !strcmp(argv[1], "sender");
    volatile char *data = calloc(bytes, 1);
    if (rank == 0) {
        memset((char *)data, 1, bytes);
        MPI_Isend((char *)data, bytes, MPI_CHAR, last, 0, MPI_COMM_WORLD, &request);
        // The receiver sends a message when a part has arrived.
        if (sender_dies) MPI_Recv(&done, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), raise(SIGKILL);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == last) {
        MPI_Irecv((char *)data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        while (!data[part] && !done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done) fprintf(stderr, "the message came in one piece\n");
        if (sender_dies) MPI_Send(&done, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        else raise(SIGKILL);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
