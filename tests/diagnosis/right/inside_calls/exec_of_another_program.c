// SPDX-License-Identifier: BSD-3-Clause
// A rank starts another program without MPI in a child process, and waits for its output.
// ranks: 2
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char line[16] = "";
    int sum, x = 1;
    if (rank == 0) {
        FILE* other = popen("sleep 0.4; echo ready", "r");
        if (!other || !fgets(line, sizeof line, other)) MPI_Abort(MPI_COMM_WORLD, 1);
        pclose(other);
    }
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
