// SPDX-License-Identifier: BSD-3-Clause
// The system forbids CMA during the run, as a container's seccomp profile does from the start: messages silently use
// another method.
// ranks: 2 3
#include "tests/ranks/memory/forbid_cma.h"

enum { n = 300000 };
static int out[n], in[n];

int main(int argc, char **argv) {
    int me, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < 6; ++round) {
        if (round == 2 && me == 1) forbid_cma();   // first one rank, then all
        if (round == 4 && me != 1) forbid_cma();
        for (int i = 0; i < n; ++i) out[i] = me * 1000 + round + i, in[i] = -1;
        int to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
        MPI_Sendrecv(out, n, MPI_INT, to, 1, in, n, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; ++i)
            CHECK(in[i] == from * 1000 + round + i, "round %d: element %d is %d", round, i, in[i]);
    }
    MPI_Finalize();
    return 0;
}
