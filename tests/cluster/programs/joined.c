// SPDX-License-Identifier: BSD-3-Clause
// Each rank prints its rank, the number of ranks in the job and on its node, the sum of all ranks, and how many bytes
// of an allreduce of 1 MiB it has copied directly from or to buffers of other ranks.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

long long direct_bytes(void);

int main(int argc, char** argv) {
    enum { count = (1 << 20) / (int)sizeof(int) };
    int rank, size, on_node;
    MPI_Comm node;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &on_node);
    int *in = malloc(count * sizeof *in), *out = malloc(count * sizeof *out);
    for (int i = 0; i < count; i++) in[i] = rank;
    long long const before = direct_bytes();
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    long long const copied = direct_bytes() - before;
    for (int i = 0; i < count; i++)
        if (out[i] != out[0]) MPI_Abort(MPI_COMM_WORLD, 1);
    printf("rank %d of %d, %d on its node, sum %d, %lld bytes direct\n", rank, size, on_node, out[0], copied);
    free(in), free(out);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
