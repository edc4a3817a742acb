/* SPDX-License-Identifier: BSD-3-Clause */
/* One table per computer instead of one per rank: all ranks of a node share its memory. */
#include <mpi.h>
#include <stdio.h>

enum { entries = 100000 };

int main(int argc, char **argv)
{
    int rank, size, unit, right = 1;
    double *table;
    MPI_Aint bytes;
    MPI_Comm node;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    const MPI_Aint mine = rank == 0 ? entries * sizeof *table : 0;
    MPI_Win_allocate_shared(mine, sizeof *table, MPI_INFO_NULL, node, &table, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &table);   /* this rank's address of rank 0's memory */

    MPI_Win_lock_all(0, window);
    for (int i = rank; i < entries; i += size)
        table[i] = 0.5 * i;
    MPI_Win_sync(window);
    MPI_Barrier(node);
    MPI_Win_sync(window);
    for (int i = 0; i < entries; ++i)
        right = right && table[i] == 0.5 * i;
    MPI_Win_unlock_all(window);

    if (rank == size - 1)
        printf("rank %d reads %g where rank 0 has its table of %ld bytes\n", rank, table[10], (long)bytes);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return right ? 0 : 1;
}
