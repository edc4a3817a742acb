// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collectives in place, with different types, on intercommunicators and graphs, and with large data;
// persistent collectives whose buffers the program uses between the starts.
// ranks: 2 4
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    enum { large = 5 << 20 };
    MPI_Request requests[8];
    MPI_Datatype types[8], even;
    MPI_Comm half, across, ring;
    int wrong = 0, periods = 1, halo[2], all[8], back[8], bytes[8], ones[8], one = 1, got = -1, mine[8],
        shifted[16] = {0};
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &even);
    MPI_Type_commit(&even);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &across);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 0, &ring);
    for (int i = 0; i < 8; i++)
        all[i] = mine[i] = rank, ones[i] = 1, bytes[i] = i * (int)sizeof(int), types[i] = MPI_INT;
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[0]);
    MPI_Ialltoallw(mine, ones, bytes, types, back, ones, bytes, types, MPI_COMM_WORLD, &requests[1]);
    MPI_Ineighbor_alltoall(mine, 1, MPI_INT, halo, 1, MPI_INT, ring, &requests[2]);
    MPI_Iallreduce(&one, &got, 1, MPI_INT, MPI_SUM, across, &requests[3]);
    MPI_Igather(&rank, 1, MPI_INT, shifted, 1, even, 0, MPI_COMM_WORLD, &requests[4]);
    shifted[1] = shifted[3] = 9;
    char* much = malloc(large);
    for (int i = 0; i < large; i++) much[i] = rank == 0 ? (char)i : 0;
    MPI_Ibcast(much, large, MPI_CHAR, 0, MPI_COMM_WORLD, &requests[5]);
    int sums[8], sum_of_all[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    MPI_Ireduce_scatter_block(mine, sums, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[6]);
    MPI_Ireduce_scatter(MPI_IN_PLACE, sum_of_all, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < size; i++) wrong += all[i] != i || back[i] != i || (rank == 0 && shifted[2 * i] != i);
    wrong += halo[0] != (rank + size - 1) % size || got != size / 2 || much[large - 1] != (char)(large - 1);
    wrong += sums[0] != size * (size - 1) / 2 || sum_of_all[0] != size || (shifted[1] != 9 || shifted[3] != 9);
    int x = 0, y = 0;
    MPI_Allreduce_init(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Bcast_init(&one, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int step = 1; step < 4; step++) {
        x = step;
        one = rank == 0 ? step : 0;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        wrong += y != step * size || one != step;
        y = one = -1;
    }
    MPI_Request_free(&requests[0]), MPI_Request_free(&requests[1]);
    MPI_Comm_free(&half), MPI_Comm_free(&across), MPI_Comm_free(&ring), MPI_Type_free(&even);
    free(much);
    if (wrong) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
