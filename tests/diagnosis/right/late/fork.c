// SPDX-License-Identifier: BSD-3-Clause
// A rank forks a child process, which writes for a while, and waits for it.
// ranks: 2
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, sum;
    if (rank == 1) {
        pid_t child = fork();
        if (child == 0) {
            usleep(400000);
            _exit(0);
        }
        waitpid(child, 0, 0);
    }
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
