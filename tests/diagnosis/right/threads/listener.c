// SPDX-License-Identifier: BSD-3-Clause
// Each rank has a thread that serves requests until it receives an end message; the main threads call a barrier.
// ranks: 2 4
#include <pthread.h>
#include <unistd.h>

#include <mpi.h>

static MPI_Comm requests_comm;

static void* serve(void* nothing) {
    MPI_Status status;
    int x;
    do MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, requests_comm, &status);
    while (status.MPI_TAG != 1);
    return nothing;
}

int main(int argc, char** argv) {
    int rank, size, provided, x = 0;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &requests_comm);
    pthread_create(&thread, 0, serve, 0);
    if (rank == 0) usleep(300000);
    MPI_Send(&x, 1, MPI_INT, (rank + 1) % size, 0, requests_comm);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&x, 1, MPI_INT, rank, 1, requests_comm);
    pthread_join(thread, 0);
    MPI_Comm_free(&requests_comm);
    MPI_Finalize();
    return 0;
}
