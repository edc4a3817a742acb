// SPDX-License-Identifier: BSD-3-Clause
// The memory use of many ranks that send little: each rank's private memory after MPI_Init, and the node's segment
// after each rank has sent one number to each other rank, which must not take a page per pair.
// ranks: 64 200
// nodes: one, it measures the memory of one node
// unchecked: it measures memory use, which is larger with --check
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TUTTI_COVERAGE)
enum { own_memory_counts = 0 };
#else
enum { own_memory_counts = 1 };
#endif

// Returns the KiB that this process has written and no other process has mapped.
static long private_kib(void) {
    char line[256];
    long kib = -1;
    FILE* file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Private_Dirty: %ld kB", &kib) == 1) break;
    if (file) fclose(file);
    return kib;
}

// Returns the KiB of the segment that any rank of the node has touched.
static long segment_kib(void) {
    long kib = -1;
    DIR* folder = opendir("/proc/self/fd");
    struct dirent* entry;
    while ((entry = readdir(folder))) {
        char name[300], target[300] = {0};
        struct stat info;
        snprintf(name, sizeof name, "/proc/self/fd/%s", entry->d_name);
        if (readlink(name, target, sizeof target - 1) > 0 && strncmp(target, "/memfd:tutti ", 13) == 0 &&
            stat(name, &info) == 0 && (long)(info.st_blocks / 2) > kib)
            kib = (long)(info.st_blocks / 2);
    }
    closedir(folder);
    return kib;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);   // before it, one rank may be the only one to map shared memory
    long const own = private_kib();
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (own_memory_counts) CHECK(own > 0 && own < 1024, "%ld KiB of rank %d's own after MPI_Init", own, rank);

    MPI_Barrier(MPI_COMM_WORLD);
    long const before = segment_kib();
    CHECK(before > 0, "the segment is not among the descriptors");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int distance = 1; distance < size; ++distance) {
        int const to = (rank + distance) % size, from = (rank + size - distance) % size;
        long const sent = 1000L * rank + to;
        long got = -1;
        MPI_Sendrecv(&sent, 1, MPI_LONG, to, 3, &got, 1, MPI_LONG, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == 1000L * from + rank, "received %ld from rank %d", got, from);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    long const grown = segment_kib() - before, page_for_each_pair = 4L * size * (size - 1);
    CHECK(grown < page_for_each_pair / 4, "one number between all pairs took %ld KiB of the segment", grown);
    MPI_Finalize();
    return 0;
}
