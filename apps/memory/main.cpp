// SPDX-License-Identifier: BSD-3-Clause
// tutti-memory: what an MPI library costs in memory. Run it under mpiexec with any MPI. The one argument is "job", for
// what all ranks take (job.hpp), or a number: of rounds in which its malloc is compared with the C library's
// (allocators.hpp).
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <mpi.h>

#include "allocators.hpp"
#include "job.hpp"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && std::strcmp(argv[1], "job") == 0) measure_job();
    else if (rank == 0) compare_allocators(argc > 1 ? std::max(1, std::atoi(argv[1])) : 9);
    MPI_Finalize();
    return 0;
}
