// SPDX-License-Identifier: BSD-3-Clause
// A thread sleeps until a signal handler wakes it after 0.4 s, and sends the message that the main thread waits for.
// ranks: 1 2
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>

static sem_t woken;

static void wake(int signal) { (void)signal, sem_post(&woken); }

static void* wait_for_signal(void* rank) {
    int x = 1;
    while (sem_wait(&woken) != 0) {}
    MPI_Send(&x, 1, MPI_INT, *(int*)rank, 0, MPI_COMM_WORLD);
    return 0;
}

int main(int argc, char** argv) {
    int rank, provided, x = 0;
    pthread_t thread;
    struct itimerval when = {{0, 0}, {0, 400000}};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sem_init(&woken, 0, 0);
    signal(SIGALRM, wake);
    pthread_create(&thread, 0, wait_for_signal, &rank);
    setitimer(ITIMER_REAL, &when, 0);
    MPI_Recv(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, 0);
    MPI_Finalize();
    return 0;
}
