// SPDX-License-Identifier: BSD-3-Clause
// One thread reduces, which takes its time, and another one calls meanwhile.
// ranks: 1 2
// expect: T18 one of all
// mpiexec: --check
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static void slow_sum(void* in, void* inout, int* n, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *n; i++) ((int*)inout)[i] += ((int*)in)[i];
    sleep(2);
}

static void* call_at_once(void* argument) {
    int x = 1, sum = 2;
    MPI_Reduce_local(&x, &sum, 1, MPI_INT, *(MPI_Op*)argument);   // HERE all
    return argument;
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Op op;
    MPI_Op_create(slow_sum, 1, &op);
    pthread_t thread;
    pthread_create(&thread, NULL, call_at_once, &op);
    sleep(1);
    MPI_Barrier(MPI_COMM_SELF);   // HERE all
    pthread_join(thread, NULL);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
