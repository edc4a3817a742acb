// SPDX-License-Identifier: BSD-3-Clause
// A new handle may have the value of one that was freed.
// ranks: 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++) {
        MPI_Comm comm;
        MPI_Datatype type;
        MPI_Group group;
        int x[3] = {i, i, i};
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_group(comm, &group);
        MPI_Type_contiguous(3, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Bcast(x, 1, type, i % 2, comm);
        MPI_Type_free(&type);
        MPI_Group_free(&group);
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
