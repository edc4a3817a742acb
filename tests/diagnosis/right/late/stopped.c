// SPDX-License-Identifier: BSD-3-Clause
// A rank stops itself and is continued half a second later, while the other waits for its message.
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
    if (rank == 0) {
        pid_t me = getpid(), child = fork();
        if (child == 0) {
            usleep(500000);
            kill(me, SIGCONT);
            _exit(0);
        }
        raise(SIGSTOP);
        waitpid(child, 0, 0);
        MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
