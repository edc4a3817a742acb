// SPDX-License-Identifier: BSD-3-Clause
// All objects are freed; nothing is reported with TUTTI_DIAGNOSIS=full.
// ranks: 1 2 4
// env: TUTTI_DIAGNOSIS=full
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm dup, half;
    MPI_Group group;
    MPI_Info info;
    MPI_Op op = MPI_OP_NULL;
    MPI_Win win;
    int* memory;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(dup, rank % 2, 0, &half);
    MPI_Comm_group(half, &group);
    MPI_Info_create(&info);
    MPI_Alloc_mem(64, info, &memory);
    MPI_Win_create(memory, 64, 1, info, dup, &win);
    MPI_Win_free(&win);
    MPI_Free_mem(memory);
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
    (void)op;
    MPI_Finalize();
    return 0;
}
