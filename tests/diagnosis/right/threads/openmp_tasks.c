// SPDX-License-Identifier: BSD-3-Clause
// An OpenMP thread computes for 0.4 s before it sends the message that the others wait for.
// ranks: 1 2
// flags: -fopenmp
// env: OMP_NUM_THREADS=3
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel
    {
        int x = 0, me = omp_get_thread_num();
        if (me == 1) {
            usleep(400000);
            MPI_Send(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
            MPI_Send(&x, 1, MPI_INT, rank, 2, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&x, 1, MPI_INT, rank, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
