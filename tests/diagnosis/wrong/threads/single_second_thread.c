// SPDX-License-Identifier: BSD-3-Clause
// With MPI_THREAD_SINGLE a second thread calls MPI.
// ranks: 1 2
// expect: T18 one of all
// mpiexec: --check
#include <mpi.h>
#include <pthread.h>

static void* send_as_second_thread(void* argument) {
    MPI_Barrier(MPI_COMM_SELF);   // HERE all
    return argument;
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_t thread;
    pthread_create(&thread, NULL, send_as_second_thread, NULL);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
