// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm the tuning table chose, shown by the sum of 1e100, 1, -1e100, 1: it is 1 in rank order, and 0 if the
// two ranks of each socket are added first. The argument is the expected sum.
// ranks: 4
// nodes: one, as the sums of sockets identify the algorithm
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
