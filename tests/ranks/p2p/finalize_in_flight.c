// SPDX-License-Identifier: BSD-3-Clause
// Messages in flight when their sender calls MPI_Finalize arrive. A message that no rank receives does not block
// MPI_Finalize.
// ranks: 2 3
// may warn: T07 T08
// run staged: 2 TUTTI_CMA=no
#include "tests/ranks/check.h"

#include <unistd.h>

enum { n = 400000 };
static int freed[n], buffered[n], in[n], unwanted[n];
static char buffer[sizeof buffered + MPI_BSEND_OVERHEAD];

int main(int argc, char **argv) {
    int me;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < n; ++i) freed[i] = i, buffered[i] = 2 * i;
    if (me == 0) {
        MPI_Isend(freed, n, MPI_INT, 1, 1, MPI_COMM_WORLD, &r);
        MPI_Request_free(&r);
        MPI_Buffer_attach(buffer, sizeof buffer);
        MPI_Bsend(buffered, n, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Isend(unwanted, n, MPI_INT, 1, 3, MPI_COMM_WORLD, &r);
        MPI_Request_free(&r);
    } else if (me == 1) {
        usleep(100000);   // meanwhile, rank 0 is in MPI_Finalize
        MPI_Recv(in, n, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; ++i) CHECK(in[i] == 2 * i, "buffered: element %d is %d", i, in[i]);
        MPI_Recv(in, n, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; ++i) CHECK(in[i] == i, "freed: element %d is %d", i, in[i]);
    }
    MPI_Finalize();
    return 0;
}
