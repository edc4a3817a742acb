// SPDX-License-Identifier: BSD-3-Clause
// With MPI_THREAD_SERIALIZED, one thread calls a slow reduction and another one calls MPI meanwhile.
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

static void* call_meanwhile(void* argument) {
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
    pthread_create(&thread, NULL, call_meanwhile, &op);
    sleep(1);
    MPI_Barrier(MPI_COMM_SELF);   // HERE all
    pthread_join(thread, NULL);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
