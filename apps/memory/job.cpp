// SPDX-License-Identifier: BSD-3-Clause
// As the kernel counts: a rank's own pages are those that it has written and nobody else has mapped; shared pages count
// once for the job (each rank has its part of them, which is called its proportional set); page tables are memory, too.
// Program text and read-only data are among the shared pages.
#include "job.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <mpi.h>

namespace {

/// The KiB behind a name in a file of /proc; 0 where there is no such line.
double kib(char const* file, char const* name) {
    char line[256];
    double found = 0;
    if (std::FILE* in = std::fopen(file, "r")) {
        while (std::fgets(line, sizeof line, in))
            if (std::strncmp(line, name, std::strlen(name)) == 0) found = std::atof(line + std::strlen(name));
        std::fclose(in);
    }
    return found;
}

/// Nobody goes on, and shares pages, before all have looked.
void row(char const* what) {
    enum { own, proportional, tables, columns };
    MPI_Barrier(MPI_COMM_WORLD);
    double const mine[columns] = {kib("/proc/self/smaps_rollup", "Private_Dirty:"),
                                  kib("/proc/self/smaps_rollup", "Pss:"), kib("/proc/self/status", "VmPTE:")};
    MPI_Barrier(MPI_COMM_WORLD);
    double all[columns], most[columns];
    int rank, ranks;
    MPI_Reduce(mine, all, columns, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(mine, most, columns, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0) return;
    std::printf("%-24s %6d %12.0f %12.0f %12.1f %12.1f %12.1f\n", what, ranks, all[own] / ranks, most[own],
                all[proportional] / 1024, all[tables] / 1024, (all[proportional] + all[tables]) / 1024);
    std::fflush(stdout);
}

void talk_to_all() {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double sent = rank, got = 0;
    for (int distance = 1; distance < ranks; ++distance)
        MPI_Sendrecv(&sent, 1, MPI_DOUBLE, (rank + distance) % ranks, 0, &got, 1, MPI_DOUBLE,
                     (rank + ranks - distance) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

}  // namespace

void measure_job() {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        std::printf("%-24s %6s %12s %12s %12s %12s %12s\n", "", "ranks", "own KiB", "most", "all MiB", "tables",
                    "total");
    row("after MPI_Init");
    talk_to_all();
    row("after 8 B to all others");
}
