// SPDX-License-Identifier: BSD-3-Clause
// A request for MPI_THREAD_FUNNELED provides it.
// ranks: 1 2
#include "tests/ranks/check.h"

int main(int argc, char **argv) {
    int provided = -1, asked = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    CHECK(provided == MPI_THREAD_FUNNELED, "provided %d", provided);
    MPI_Query_thread(&asked);
    CHECK(asked == provided, "MPI_Query_thread returned %d", asked);
    MPI_Finalize();
    return 0;
}
