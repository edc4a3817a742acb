// SPDX-License-Identifier: BSD-3-Clause
// Two threads receive from any source, each with another tag, which one sender uses.
// ranks: 3
#include <pthread.h>

#include <mpi.h>

static void* receive(void* tag) {
    int x;
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, *(int*)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (x != *(int*)tag) MPI_Abort(MPI_COMM_WORLD, 1);
    return NULL;
}

int main(int argc, char** argv) {
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        pthread_t threads[2];
        int tags[2] = {1, 2};
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, receive, &tags[i]);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
