// SPDX-License-Identifier: BSD-3-Clause
// Four ranks send as fast as they can, and the messages are stored in order of arrival.
// ranks: 5
// expect: warning T12 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    enum { messages = 200 };
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static int all[4 * messages];
    static MPI_Request requests[4 * messages];
    int const n = rank == 0 ? 4 * messages : messages;
    for (int i = 0; i < n; i++) {
        all[i] = 1000 * rank + i;
        if (rank == 0) MPI_Irecv(&all[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[i]);   // HERE 0
        else MPI_Isend(&all[i], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
