// SPDX-License-Identifier: BSD-3-Clause
// MPI_Finalize of rank 0 takes half a second, because a callback deletes an attribute.
// may warn: T08
// ranks: 2 3
#include <unistd.h>

#include <mpi.h>

static int slowly(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    usleep(500000);
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, slowly, &key, 0);
    if (rank == 0) MPI_Comm_set_attr(MPI_COMM_SELF, key, 0);
    MPI_Finalize();
    return 0;
}
