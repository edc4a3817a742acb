// SPDX-License-Identifier: BSD-3-Clause
// The destructor of a global object calls MPI after main, and thus after MPI_Finalize.
// ranks: 1 2
// whole: a global object that has a destructor
// expect: MPI_ERR_OTHER one of all
#include <mpi.h>

struct Sum {
    ~Sum() {
        int all, mine = 1;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);   // HERE all
    }
} sum;

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
