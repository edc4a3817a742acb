/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator is freed while messages are in flight on it; they still arrive. */
// ranks: 2 4
#include <string.h>

#include "tests/ranks/check.h"

enum { large = 300000 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, left, right;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    int *out = malloc(large * sizeof *out), *in = malloc(large * sizeof *in);
    for (int count = 1; count <= large; count *= 10) {
        for (int i = 0; i < count; ++i) out[i] = rank + i;
        memset(in, 0, large * sizeof *in);
        MPI_Comm comm, later;
        MPI_Request requests[2];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Irecv(in, count, MPI_INT, left, 1, comm, &requests[0]);
        MPI_Isend(out, count, MPI_INT, right, 1, comm, &requests[1]);
        MPI_Comm_free(&comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &later);   /* may get the same handle, but never the same messages */
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; ++i) CHECK(in[i] == left + i, "%d ints: element %d is %d", count, i, in[i]);
        MPI_Comm_free(&later);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
