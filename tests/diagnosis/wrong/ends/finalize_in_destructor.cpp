// SPDX-License-Identifier: BSD-3-Clause
// MPI_Finalize is called in a destructor, and rank 1 returns from main before it has answered.
// ranks: 2
// whole: it returns from main
// expect: T05 ranks 0
#include <mpi.h>

struct Environment {
    Environment(int argc, char** argv) { MPI_Init(&argc, &argv); }
    ~Environment() { MPI_Finalize(); }
};

int main(int argc, char** argv) {
    Environment environment(argc, argv);
    int rank, answer;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) return 0;
    MPI_Recv(&answer, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0
}
