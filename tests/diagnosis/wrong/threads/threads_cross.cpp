// SPDX-License-Identifier: BSD-3-Clause
// Each rank has two threads: one waits for the next rank, the other one for the previous rank, and none sends.
// ranks: 3 4
// expect: T01 ranks all
#include <mpi.h>

#include <thread>

static void pass_on(int from, int to, int tag) {
    int x = 0;
    MPI_Recv(&x, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE all
    MPI_Send(&x, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    int rank, size, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    std::thread other(pass_on, next, before, 1);
    pass_on(before, next, 0);
    other.join();
    MPI_Finalize();
    return 0;
}
