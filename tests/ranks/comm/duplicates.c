/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's shared memory for many duplicates: one page for a duplicate that was never used, and one page per member
 * for one that did a small allreduce (also if a member waits for long). All of it is returned when the duplicates are
 * freed. */
// ranks: 2 8 48
// nodes: one, it measures the shared memory of the node
// unchecked: --check records each call in memory that is only reclaimed later
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/ranks/check.h"

enum { most = 1000 };

/* The allocated bytes of the segment, which is a memory file. */
static long long segment_bytes(void) {
    long long bytes = 0;
    DIR *all = opendir("/proc/self/fd");
    for (struct dirent *one; all && (one = readdir(all));) {
        char path[300], target[300];
        snprintf(path, sizeof path, "/proc/self/fd/%s", one->d_name);
        ssize_t const length = readlink(path, target, sizeof target - 1);
        struct stat info;
        if (length < 0 || (target[length] = 0, !strstr(target, "memfd:tutti")) || stat(path, &info) != 0) continue;
        if (info.st_blocks * 512LL > bytes) bytes = info.st_blocks * 512LL;
    }
    closedir(all);
    CHECK(bytes > 0, "no segment among the open files");
    return bytes;
}

static long long now(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    long long const bytes = segment_bytes();
    MPI_Barrier(MPI_COMM_WORLD);
    return bytes;
}

int main(int argc, char **argv) {
    static MPI_Comm all[most];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const duplicates = size > 8 ? 100 : most;
    long long const page = sysconf(_SC_PAGESIZE);
    /* Allowance for the library's own allocations; a rank that waits for long records it in some pages of its own at
     * its first such wait. One leaked page per duplicate would exceed this. */
    long long const room = (100 + 16 * size) * page;
    MPI_Comm_dup(MPI_COMM_WORLD, &all[0]);
    MPI_Comm_free(&all[0]);
    long long const begin = now();
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < duplicates; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
        long long const made = now() - begin;
        CHECK(made <= duplicates * page + room, "round %d: %lld bytes for unused duplicates", round, made);
        for (int i = 0; i < duplicates; ++i) {
            int const mine = rank + i;
            int sum = -1;
            MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all[i]);
            CHECK(sum == size * (size - 1) / 2 + size * i, "duplicate %d: sum %d", i, sum);
        }
        long long const used = now() - begin;
        long long const most_used = duplicates * page * size + room;
        CHECK(used <= most_used, "round %d: %lld bytes after an allreduce each", round, used);
        for (int i = 0; i < duplicates; ++i) MPI_Comm_free(&all[i]);
        /* After all members have freed a communicator, the next communicator that they make returns the members'
         * memory, and the one after that returns the memory that the first member allocated. */
        for (int i = 0; i < 2; ++i) {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Comm_dup(MPI_COMM_WORLD, &all[0]);
            MPI_Comm_free(&all[0]);
        }
        long long const left = now() - begin;
        CHECK(left <= room, "round %d: %lld bytes are left", round, left);
    }
    MPI_Finalize();
    return 0;
}
