// SPDX-License-Identifier: BSD-3-Clause
// The operator depends on input that is different at rank 1.
// ranks: 2 3
// expect: T04 ranks 1
#include <mpi.h>

#include <string>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, result = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::string const wanted = rank == 1 ? "product" : "sum";
    MPI_Op const op = wanted == "sum" ? MPI_SUM : MPI_PROD;
    MPI_Reduce(&rank, &result, 1, MPI_INT, op, 0, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}
