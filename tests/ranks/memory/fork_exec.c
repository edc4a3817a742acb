// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1
// A child that only executes another program copies almost nothing of its parent's large blocks.
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ranks/memory/arena_check.h"

#define BYTES ((size_t)1 << 30)

int main(int argc, char** argv) {
    if (argc > 1) return 17;
    MPI_Init(&argc, &argv);
    char* block = malloc(BYTES);
    CHECK_SHARED(block);
    memset(block, 1, BYTES);
    char* const words[] = {argv[0], "started", NULL};
    for (int closes = 0; closes < 2; closes++) {
        pid_t const child = fork();
        if (child == 0) {
            for (int i = 3; closes && i < 256; i++) close(i);   // as many programs do before exec
            execv(argv[0], words);
            _exit(9);
        }
        int status = 0;
        struct rusage use;
        CHECK(wait4(child, &status, 0, &use) == child, "wait4");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 17, "the child ended with %x", status);
        CHECK(!uses_tutti_allocator || use.ru_maxrss < (long)(BYTES >> 11), "the child took %ld KiB", use.ru_maxrss);
    }
    CHECK(block[0] == 1 && block[BYTES - 1] == 1, "the block has changed");
    free(block);
    MPI_Finalize();
    return 0;
}
