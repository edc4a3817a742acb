// SPDX-License-Identifier: BSD-3-Clause
// Each OpenMP thread receives from its partner before it sends.
// ranks: 2
// flags: -fopenmp
// env: OMP_NUM_THREADS=3
// expect: T01 ranks 0-1
#include <mpi.h>
#include <omp.h>

int main(int argc, char** argv) {
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel
    {
        int x, me = omp_get_thread_num();
        MPI_Recv(&x, 1, MPI_INT, 1 - rank, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0-1
        MPI_Send(&x, 1, MPI_INT, 1 - rank, me, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
