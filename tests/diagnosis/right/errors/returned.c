// SPDX-License-Identifier: BSD-3-Clause
// Errors are returned to the program (MPI_ERRORS_RETURN).
// ranks: 2
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int class, code = MPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_RANK) MPI_Abort(MPI_COMM_WORLD, 1);
    if (MPI_Barrier(MPI_COMM_NULL) == MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
