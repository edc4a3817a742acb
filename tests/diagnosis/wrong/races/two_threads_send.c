// SPDX-License-Identifier: BSD-3-Clause
// One of two senders sends from a second thread; the receiver's main thread assumes that the first message is that of
// rank 1.
// ranks: 3
// expect: warning T12 ranks 0
// mpiexec: --check
#include <pthread.h>
#include <unistd.h>

#include <mpi.h>

static void* send(void* value) {
    MPI_Send(value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    return NULL;
}

int main(int argc, char** argv) {
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    if (rank == 0) {
        sleep(1);
        for (int i = 0; i < 2; i++)
            MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0
    } else if (rank == 1) {
        pthread_t thread;
        pthread_create(&thread, NULL, send, &x);
        pthread_join(thread, NULL);
    } else {
        send(&x);
    }
    MPI_Finalize();
    return 0;
}
