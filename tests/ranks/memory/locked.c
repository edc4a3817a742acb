// SPDX-License-Identifier: BSD-3-Clause
// ranks: 2 4
// run before: 2 4 before
// run without_arena: 2 4 TUTTI_ARENA=no before
// nodes: one, it measures what the ranks of one node map
// unchecked: it measures memory use
// A program that locks all its memory locks only the memory in use, not the reserved address space.
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/ranks/memory/arena_check.h"

enum { bytes = 8 << 20, most_kib = 600 << 10 };

static long status_kib(char const* name) {
    char line[256];
    long kib = -1;
    FILE* file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0) kib = strtol(line + strlen(name), NULL, 10);
    if (file) fclose(file);
    return kib;
}

static int lock(void) {
    // If too much is locked, the kernel should end this program before others.
    FILE* first_to_go = fopen("/proc/self/oom_score_adj", "w");
    if (first_to_go) fputs("1000", first_to_go), fclose(first_to_go);
    return mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
}

static void communicate(int size) {
    char *mine = malloc(bytes), *sum = malloc(bytes);
    memset(mine, 1, bytes);
    for (int root = 0; root < size; root++) MPI_Bcast(mine, bytes, MPI_CHAR, root, MPI_COMM_WORLD);
    MPI_Allreduce(mine, sum, bytes, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum[0] == size && sum[bytes - 1] == size, "sum %d", sum[0]);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(mine, bytes, MPI_CHAR, rank ^ 1, 0, sum, bytes, MPI_CHAR, rank ^ 1, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(sum[0] == 1 && sum[bytes - 1] == 1, "message %d", sum[0]);
    MPI_Win window;
    char* base;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_fence(0, window);
    MPI_Put(mine, bytes, MPI_CHAR, (rank + 1) % size, 0, bytes, MPI_CHAR, window);
    MPI_Win_fence(0, window);
    CHECK(base[0] == 1 && base[bytes - 1] == 1, "put %d", base[0]);
    MPI_Win_free(&window);
    free(mine), free(sum);
}

int main(int argc, char** argv) {
    int const before = argc > 1 && strcmp(argv[1], "before") == 0, never = argc > 1 && !before;
    int locked = never || (before && lock());
    MPI_Init(&argc, &argv);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    communicate(size);
    if (argc == 1) locked = lock();
    communicate(size);
    if (!locked) fprintf(stderr, "this user may not lock its memory\n");
    long const shared = status_kib("RssShmem:"), whole = status_kib("VmRSS:");
    CHECK(shared >= 0 && shared < most_kib, "%ld KiB of shared memory", shared);
    CHECK(whole < 2 * most_kib, "%ld KiB of memory", whole);
    MPI_Finalize();
    return 0;
}
