// SPDX-License-Identifier: BSD-3-Clause
// Two threads call MPI in turn, protected by a lock.
// ranks: 2
#include <mpi.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void* send_with_lock(void* argument) {
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&lock);
        int x = i, y, me = *(int*)argument;
        MPI_Sendrecv(&x, 1, MPI_INT, me, 0, &y, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_t thread;
    pthread_create(&thread, NULL, send_with_lock, &rank);
    send_with_lock(&rank);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
