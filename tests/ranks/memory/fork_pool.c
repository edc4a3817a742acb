// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 2 4
// Several children that run at the same time, as with Python's multiprocessing. Each child keeps the data of its fork,
// whatever the parent and its peers write later, and further children share the copies.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ranks/memory/arena_check.h"

enum { children = 4, bytes = 32 << 20, shown = 4 << 20 };

/* Returns the number of bytes that this process has written and shares with no other process. */
static long own_bytes(void) {
    FILE *rollup = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kilobytes = -1;
    while (rollup && fgets(line, sizeof line, rollup)) sscanf(line, "Private_Dirty: %ld", &kilobytes);
    if (rollup) fclose(rollup);
    return kilobytes << 10;
}

static int all(char const *block, size_t from, size_t to, int value) {
    for (size_t i = from; i < to; i++)
        if (block[i] != value) return 0;
    return 1;
}

/* Returns 42 if all data is as it was at the fork of this child. */
static int check(char *block, int child) {
    if (uses_tutti_allocator && child > 0 && own_bytes() > bytes / 2) return 3;   // the first child makes the copy
    if (!all(block, 0, shown, 10 + child)) return 1;
    if (!all(block, shown, bytes, 1)) return 2;
    memset(block, 5, bytes);
    return all(block, 0, bytes, 5) ? 42 : 4;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *block = malloc(bytes);
    CHECK_SHARED(block);
    memset(block, 1, bytes);
    MPI_Win window;   // peers write to the beginning of the block
    MPI_Win_create(block, shown, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    char *sent = malloc(shown);
    int asked[2];
    CHECK(pipe(asked) == 0, "pipe");
    pid_t pids[children];
    int const next = (rank + 1) % size;
    for (int i = 0; i < children; i++) {
        memset(sent, 10 + i, shown);
        MPI_Win_fence(0, window);
        MPI_Put(sent, shown, MPI_CHAR, next, 0, shown, MPI_CHAR, window);
        MPI_Win_fence(0, window);
        pids[i] = fork();
        if (pids[i] == 0) {
            char c;
            _exit(read(asked[0], &c, 1) == 1 ? check(block, i) : 9);
        }
    }
    memset(sent, 3, shown);
    MPI_Win_fence(0, window);
    MPI_Put(sent, shown, MPI_CHAR, next, 0, shown, MPI_CHAR, window);
    MPI_Win_fence(0, window);
    memset(block + shown, 2, bytes - shown);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(write(asked[1], "1234", children) == children, "write");
    for (int i = 0; i < children; i++) {
        int status = 0;
        CHECK(waitpid(pids[i], &status, 0) == pids[i], "waitpid");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42, "child %d ended with %x", i, status);
    }
    CHECK(all(block, 0, shown, 3) && all(block, shown, bytes, 2), "a child has changed its parent's memory");
    char *sum = malloc(bytes);
    MPI_Allreduce(block, sum, bytes, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all(sum, 0, shown, 3 * size) && all(sum, shown, bytes, 2 * size), "sum %d", sum[0]);
    MPI_Win_free(&window);
    free(sent), free(block), free(sum);
    MPI_Finalize();
    return 0;
}
