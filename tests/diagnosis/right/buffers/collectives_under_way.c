// SPDX-License-Identifier: BSD-3-Clause
// Permitted accesses to buffers of active nonblocking collectives: operands are read, also by another send; gaps, and
// arguments that are not significant at a rank, are written; results of neighbouring elements arrive at the same time.
// ranks: 2 3 5
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    enum { n = 6 };
    MPI_Request requests[12];
    int operand[n], sum[n], prefix[n], before[n], a[8][8] = {{0}}, received[8] = {0}, part[2], everything[2 * n] = {0};
    int counts[8], displacements[8];
    for (int i = 0; i < n; i++) operand[i] = rank + i;
    for (int i = 0; i < size; i++) counts[i] = i == 1 ? 1 : 0, displacements[i] = i;
    MPI_Datatype column;
    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Iallreduce(operand, sum, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Iscan(operand, prefix, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Iexscan(operand, before, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
    if (rank == 0)
        for (int i = 0; i < n; i++) before[i] = -1;
    MPI_Ibcast(&a[0][1], 1, column, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Ibcast(&a[0][2], 1, column, size - 1, MPI_COMM_WORLD, &requests[4]);
    for (int i = 0; i < 8; i++) a[i][0] = a[i][3] = i;
    MPI_Igatherv(operand, rank == 1, MPI_INT, received, counts, displacements, MPI_INT, 0, MPI_COMM_WORLD,
                 &requests[5]);
    received[0] = received[3] = 4;
    if (rank != 0) received[1] = 5;
    MPI_Ireduce(operand, everything, n, MPI_INT, MPI_MAX, 1, MPI_COMM_WORLD, &requests[6]);
    if (rank != 1) everything[0] = 1;
    MPI_Iscatter(operand, 1, MPI_INT, rank == 0 ? MPI_IN_PLACE : part, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[7]);
    MPI_Iallreduce(operand, &everything[n], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[8]);
    MPI_Iallreduce(&operand[1], &everything[n + 1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[9]);
    MPI_Isend(operand, n, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[10]);
    MPI_Irecv(&everything[n + 2], 4, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[11]);
    int next[n], wrong = operand[0] != rank;
    MPI_Recv(next, n, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
    wrong += sum[1] != size * (size - 1) / 2 + size || prefix[0] != rank * (rank + 1) / 2;
    wrong +=
        before[0] != (rank == 0 ? -1 : rank * (rank - 1) / 2) || everything[0] != (rank == 1 ? size - 1 : rank != 1);
    wrong += a[7][0] != 7 || a[7][3] != 7 || everything[n + 1] != sum[1] || (rank == 0 && received[1] != 1);
    operand[0] = sum[0] = a[0][1] = 0;
    MPI_Type_free(&column);
    if (wrong) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
