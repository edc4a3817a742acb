// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_dup calls a slow attribute copy function of the program at rank 1.
// ranks: 2 4
#include <unistd.h>

#include <mpi.h>

static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
    int rank;
    (void)key, (void)extra;
    MPI_Comm_rank(comm, &rank);
    if (rank == 1) usleep(400000);
    *(void**)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int key;
    MPI_Comm both;
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, 0);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &both);
    MPI_Barrier(both);
    MPI_Comm_free(&both);
    MPI_Comm_free_keyval(&key);
    MPI_Finalize();
    return 0;
}
