/* SPDX-License-Identifier: BSD-3-Clause */
/* Thousands of communicators created and freed leak neither handles nor memory of the process or of the node. */
// ranks: 1 3
#include "tests/ranks/check.h"
#include "tests/ranks/comm/node.h"
#include "tests/ranks/comm/peak.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int const warm = is_single_node() ? 1000 : 250, cycles = 4 * warm;
    long early = 0;
    for (int i = 0; i < cycles; ++i) {
        MPI_Comm part, copy, again, grid;
        int color = rank == i % size && size > 1 ? MPI_UNDEFINED : i % 2;
        MPI_Comm_split(MPI_COMM_WORLD, color, i % 3 == 0 ? -rank : 0, &part);
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        if (part != MPI_COMM_NULL) {
            int one = 1, sum = 0, n;
            MPI_Comm_size(part, &n);
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part);
            CHECK(sum == n, "cycle %d: sum is %d instead of %d", i, sum, n);
            MPI_Comm_free(&part);
        }
        MPI_Comm_create_group(copy, world, 5, &again);
        MPI_Comm_free(&copy);
        MPI_Cart_create(again, 1, &size, &size, 0, &grid);
        MPI_Comm_free(&again);
        MPI_Comm_free(&grid);
        if (i == warm) early = peak_kib();
    }
    long make_child = peak_kib() - early;
#ifdef __SANITIZE_ADDRESS__
    long const allowed = 300 * 1024; /* AddressSanitizer's quarantine keeps up to 256 MiB of freed memory */
#else
    long const allowed = 1024 + cycles / 4;   /* between nodes, buffers take about 540 KiB */
#endif
    CHECK(make_child < allowed, "%d cycles took %ld KiB more", cycles - warm, make_child);
    MPI_Group_free(&world);
    MPI_Finalize();
    return 0;
}
