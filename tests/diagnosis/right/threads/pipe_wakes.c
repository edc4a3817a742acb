// SPDX-License-Identifier: BSD-3-Clause
// A thread reads from a pipe into which another program writes after 0.4 s, and then sends.
// ranks: 1 2
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static FILE* lines;

static void* wait_for_pipe(void* rank) {
    int x = fgetc(lines);
    MPI_Send(&x, 1, MPI_INT, *(int*)rank, 0, MPI_COMM_WORLD);
    return 0;
}

int main(int argc, char** argv) {
    int rank, provided, x = 0;
    pthread_t thread;
    lines = popen("sleep 0.4; echo 1", "r");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_create(&thread, 0, wait_for_pipe, &rank);
    MPI_Recv(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, 0);
    pclose(lines);
    MPI_Finalize();
    return x != '1';
}
