// SPDX-License-Identifier: BSD-3-Clause
// Two ranks call the same two collectives in different orders.
// ranks: 2 4
// expect: T03 ranks 0
// expect nodes: T03 or MPI_ERR_TRUNCATE or MPI_ERR_OTHER one of all
#include <mpi.h>

#include <array>

static std::array<int, 8> all;

static void share(int x) {
    MPI_Allgather(&x, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);   // HERE 0
}

static void add(int x) {
    MPI_Allreduce(&x, all.data(), 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);   // HERE 1-last
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        share(rank);
        add(rank);
    } else {
        add(rank);
        share(rank);
    }
    MPI_Finalize();
    return 0;
}
