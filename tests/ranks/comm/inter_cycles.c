/* SPDX-License-Identifier: BSD-3-Clause */
/* Thousands of intercommunicators created, duplicated, split, merged and freed return their memory to the node. */
// ranks: 2 3 5
#include "tests/ranks/comm/inter.h"
#include "tests/ranks/comm/node.h"
#include "tests/ranks/comm/peak.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const warm = is_single_node() ? 200 : 60, cycles = 3 * warm;
    long early = 0;
    for (int i = 0; i < cycles; ++i) {
        MPI_Comm local, inter = make_inter(i % cuts, i % 2, &local), copy, part, merged;
        MPI_Comm_dup(inter, &copy);
        MPI_Comm_split(copy, i % 3 ? 0 : rank % 2, 0, &part);
        if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
        MPI_Comm_free(&local);
        MPI_Comm_free(&inter);
        MPI_Intercomm_merge(copy, side_of(i % cuts, rank, size), &merged);
        MPI_Comm_free(&copy);
        int one = 1, sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
        CHECK(sum == size, "cycle %d: sum is %d", i, sum);
        MPI_Comm_free(&merged);
        if (i == warm) early = peak_kib();
    }
    long make_child = peak_kib() - early;
#ifdef __SANITIZE_ADDRESS__
    long const allowed = 300 * 1024; /* AddressSanitizer's quarantine keeps up to 256 MiB of freed memory */
#else
    long const allowed = 1024 + cycles;   /* between nodes, buffers take about 540 KiB */
#endif
    CHECK(make_child < allowed, "%d cycles took %ld KiB more", cycles - warm, make_child);
    MPI_Finalize();
    return 0;
}
