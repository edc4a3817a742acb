// SPDX-License-Identifier: BSD-3-Clause
// An intercommunicator is merged, and one group is late.
// ranks: 2 4
#include <mpi.h>

#include <chrono>
#include <initializer_list>
#include <thread>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bool const low = rank < size / 2;
    MPI_Comm own, both, merged;
    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, low ? size / 2 : 0, 0, &both);
    if (low) std::this_thread::sleep_for(std::chrono::milliseconds(400));
    MPI_Intercomm_merge(both, low, &merged);
    MPI_Barrier(merged);
    for (MPI_Comm* comm : {&merged, &both, &own}) MPI_Comm_free(comm);
    MPI_Finalize();
    return 0;
}
