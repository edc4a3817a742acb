// SPDX-License-Identifier: BSD-3-Clause
// Makes a hundred allreduces of 8 bytes. With two arguments, one rank kills itself before one of them.
// ranks: 2 64
#include <signal.h>
#include <unistd.h>

#include "../check.h"

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const victim = argc == 3 ? atoi(argv[1]) : -1, when = argc == 3 ? atoi(argv[2]) : -1;
    for (int i = 0; i < 100; ++i) {
        if (rank == victim && i == when) kill(getpid(), SIGKILL);
        double const mine = rank + i;
        double sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == size * (size - 1) / 2.0 + (double)size * i, "allreduce %d gave %g", i, sum);
    }
    MPI_Finalize();
    return 0;
}
