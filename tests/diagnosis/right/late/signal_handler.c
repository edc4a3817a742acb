// SPDX-License-Identifier: BSD-3-Clause
// Signals of a timer interrupt the waiting rank repeatedly.
// ranks: 2
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;
static void tick(int signal) {
    (void)signal;
    ticks++;
}

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct itimerval every = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    int x = rank;
    signal(SIGALRM, tick);
    if (rank == 0) {
        setitimer(ITIMER_REAL, &every, 0);
        MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        setitimer(ITIMER_REAL, &never, 0);
    } else {
        usleep(400000);
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
