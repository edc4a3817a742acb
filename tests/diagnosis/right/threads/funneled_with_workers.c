// SPDX-License-Identifier: BSD-3-Clause
// Other threads compute, and call only functions that any thread may call.
// ranks: 1 2
#include <mpi.h>
#include <pthread.h>

static void* compute(void* argument) {
    int yes, version, subversion;
    MPI_Initialized(&yes);
    MPI_Finalized(&yes);
    MPI_Get_version(&version, &subversion);
    return argument;
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_t thread;
    pthread_create(&thread, NULL, compute, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
