// SPDX-License-Identifier: BSD-3-Clause
// A listener thread ends on a message, which the main threads do not send before they join it.
// ranks: 2 3
// expect: T01 ranks all
#include <mpi.h>
#include <pthread.h>

static void* listen(void* comm) {
    int x;
    MPI_Status status;
    do MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, *(MPI_Comm*)comm, &status);   // HERE all
    while (status.MPI_TAG != 1);
    return 0;
}

int main(int argc, char** argv) {
    int rank, provided;
    pthread_t thread;
    MPI_Comm requests;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &requests);
    pthread_create(&thread, 0, listen, &requests);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_join(thread, 0);
    MPI_Comm_free(&requests);
    MPI_Finalize();
    return 0;
}
