// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 is stopped during its wait; meanwhile its message arrives, and rank 0 waits for the answer.
// ranks: 2
#include <mpi.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    if (rank == 1) {
        pid_t me = getpid(), child = fork();
        if (child == 0) {
            usleep(100000);
            kill(me, SIGSTOP);
            usleep(500000);
            kill(me, SIGCONT);
            _exit(0);
        }
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        waitpid(child, 0, 0);
    } else {
        usleep(250000);
        MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
