// SPDX-License-Identifier: BSD-3-Clause
// A thread sleeps on a semaphore in shared memory; another process of the program posts it after 0.4 s.
// ranks: 1 2
// whole: it forks before MPI_Init
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

static sem_t* woken;

static void* work(void* rank) {
    int x = 1;
    while (sem_wait(woken) != 0) {}
    MPI_Send(&x, 1, MPI_INT, *(int*)rank, 0, MPI_COMM_WORLD);
    return 0;
}

int main(int argc, char** argv) {
    int rank, provided, x = 0;
    pthread_t thread;
    woken = mmap(0, sizeof *woken, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(woken, 1, 0);
    if (fork() == 0) {
        usleep(400000);
        sem_post(woken);
        _exit(0);
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_create(&thread, 0, work, &rank);
    MPI_Recv(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, 0);
    MPI_Finalize();
    return 0;
}
