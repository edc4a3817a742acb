// SPDX-License-Identifier: BSD-3-Clause
// The attached buffer holds one large message: after all ranks know that it was received, the buffer is free again.
// ranks: 2
#include "tests/ranks/check.h"

enum { n = 50000, rounds = 200 };

int main(int argc, char **argv) {
    static int data[n];
    int me, bytes = (int)sizeof data + MPI_BSEND_OVERHEAD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    void *buffer = malloc((size_t)bytes);
    MPI_Buffer_attach(buffer, bytes);
    for (int round = 0; round < rounds; ++round) {
        if (me == 0) {
            for (int i = 0; i < n; ++i) data[i] = round + i;
            if (round % 2) {
                MPI_Request request;
                MPI_Ibsend(data, n, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            } else {
                MPI_Bsend(data, n, MPI_INT, 1, 0, MPI_COMM_WORLD);
            }
        } else {
            MPI_Recv(data, n, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < n; ++i) CHECK(data[i] == round + i, "round %d: element %d is %d", round, i, data[i]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Buffer_detach(&buffer, &bytes);
    free(buffer);
    MPI_Finalize();
    return 0;
}
