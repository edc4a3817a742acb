// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 2
// args: 8
// Each rank allocates and touches as many MiB as the argument, in blocks of 4 MiB.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    enum { block = 4 };
    long megabytes = argc > 1 ? atol(argv[1]) : 0;
    int failed = 0;
    char** blocks = calloc((size_t)megabytes / block + 1, sizeof *blocks);
    for (long i = 0; blocks && i < megabytes / block; ++i) {
        blocks[i] = malloc(block << 20);
        if (blocks[i]) memset(blocks[i], 1, block << 20);
        else failed = 1;
    }
    for (long i = 0; blocks && i < megabytes / block; ++i) free(blocks[i]);
    free(blocks);
    MPI_Finalize();
    return failed;
}
