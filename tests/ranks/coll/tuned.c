// SPDX-License-Identifier: BSD-3-Clause
// The sum of 1e100, 1, -1e100, 1 tells which algorithm the table has chosen: 1 when it is taken in the order of ranks,
// 0 when each socket's two ranks are summed first. The argument says which it must be.
// ranks: 4
// nodes: one, as sockets are parts of it and their sums tell the algorithm
// args: 1
// env: TUTTI_TOPOLOGY="socket:2 core:2" TUTTI_TUNING=none
#include "tests/ranks/check.h"

int main(int argc, char **argv) {
    static const double numbers[] = {1e100, 1, -1e100, 1};
    double sum = -1;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&numbers[rank], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(argc > 1 && sum == atof(argv[1]), "the sum is %g", sum);
    MPI_Finalize();
    return 0;
}
