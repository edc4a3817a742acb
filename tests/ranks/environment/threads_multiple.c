// SPDX-License-Identifier: BSD-3-Clause
// Asking for MPI_THREAD_MULTIPLE gives that; what one may call from many threads, tests/ranks/threads shows.
// ranks: 1 2
#include "tests/ranks/check.h"

int main(int argc, char **argv) {
    int provided = -1, asked = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE, "provided %d", provided);
    MPI_Query_thread(&asked);
    CHECK(asked == provided, "MPI_Query_thread says %d", asked);
    MPI_Finalize();
    return 0;
}
