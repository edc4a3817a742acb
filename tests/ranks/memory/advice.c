// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 2
// madvise works on large blocks as on private memory, also while peers have mapped them.
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ranks/memory/arena_check.h"

enum { page = 4096, bytes = 4 << 20 };

static int all(char const* block, size_t n, int value) {
    for (size_t i = 0; i < n; i++)
        if (block[i] != value) return 0;
    return 1;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *block = aligned_alloc(page, bytes), *sum = malloc(bytes);
    CHECK_SHARED(block);
    int const advice[] = {MADV_DONTNEED, MADV_FREE};
    for (int i = 0; i < 2; i++) {
        memset(block, 1, bytes);
        MPI_Allreduce(block, sum, bytes, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
        CHECK(madvise(block + page, bytes / 2, advice[i]) == 0, "madvise %d: %s", advice[i], strerror(errno));
        if (advice[i] == MADV_DONTNEED) CHECK(all(block + page, bytes / 2, 0), "the bytes are still there");
        CHECK(block[0] == 1 && all(block + page + bytes / 2, bytes / 2 - page, 1), "other bytes have changed");
        memset(block + page, 2, bytes / 2);
        MPI_Allreduce(block, sum, bytes, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum[0] == size && all(sum + page, bytes / 2, 2 * size), "peers read other bytes");
    }
    CHECK(madvise(block, page, MADV_WIPEONFORK) == 0, "madvise: %s", strerror(errno));
    pid_t const child = fork();
    if (child == 0) _exit(all(block, page, 0) && block[page] == 2 ? 42 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42, "the child ended with %x", status);
    CHECK(block[0] == 1, "the parent's page is wiped");
    CHECK(madvise(NULL, page, MADV_DONTNEED) == -1 && errno == ENOMEM, "no memory of the arena");
    free(block), free(sum);
    MPI_Finalize();
    return 0;
}
