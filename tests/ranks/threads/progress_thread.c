// SPDX-License-Identifier: BSD-3-Clause
// With a progress thread, requests complete while the program computes and reads only memory. The program forks,
// receives signals, and requests no thread level.
// ranks: 1 2 4
// env: TUTTI_PROGRESS_THREAD=yes
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ranks/check.h"

enum { n = 200000, rounds = 5 };   /* too large for the eager protocol */

static int me, size;
static volatile sig_atomic_t signals;

static void on_alarm(int number) {
    (void)number;
    ++signals;
}

/* A large message arrives without any MPI call: the program watches its last element. */
static void messages(void) {
    static int in[n], out[n];
    int next = (me + 1) % size, before = (me + size - 1) % size;
    for (int round = 0; round < rounds; ++round) {
        MPI_Request requests[2];
        atomic_int *last = (atomic_int *)&in[n - 1];
        in[n - 1] = -1;
        for (int i = 0; i < n; ++i) out[i] = me * 1000 + i + round;
        MPI_Irecv(in, n, MPI_INT, before, round, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, n, MPI_INT, next, round, MPI_COMM_WORLD, &requests[1]);
        while (atomic_load(last) == -1) usleep(100);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; ++i) CHECK(in[i] == before * 1000 + i + round, "element %d is %d", i, in[i]);
    }
}

static void collectives(void) {
    for (int round = 0; round < rounds; ++round) {
        int in = me + round, sum = -1;
        atomic_int *seen = (atomic_int *)&sum;
        MPI_Request request;
        MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        while (atomic_load(seen) != size * round + size * (size - 1) / 2) usleep(100);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void forks(void) {
    int status;
    pid_t child = fork();
    if (child == 0) exit(7);   /* runs exit handlers and destructors */
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7, "status %x", status);
}

int main(int argc, char **argv) {
    int provided;
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Query_thread(&provided);
    CHECK(provided == MPI_THREAD_SINGLE, "level %d", provided);
    sigaction(SIGUSR1, &action, NULL);
    kill(getpid(), SIGUSR1);
    CHECK(signals == 1, "%d signals, of which none may go to another thread", (int)signals);
    messages();
    forks();
    collectives();
    MPI_Finalize();
    return 0;
}
