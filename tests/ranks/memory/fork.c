// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 2
// Forked children: a child's writes are invisible to its parent, the parent's later writes are invisible to the child,
// and programs that a rank starts share none of its memory.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ranks/memory/arena_check.h"

enum { bytes = 5 << 20 };

extern char **environ;

static int ended(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int all(char const *block, int value) {
    for (size_t i = 0; i < bytes; i++)
        if (block[i] != value) return 0;
    return 1;
}

int main(int argc, char **argv) {
    if (argc > 1) {   // the program that a rank starts is a separate world
        MPI_Init(&argc, &argv);
        int size;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        char *block = malloc(bytes);
        CHECK_SHARED(block);   // shared with the ranks of that world, which is one
        CHECK(!uses_tutti_allocator || inode_of(block) != strtoul(argv[1], NULL, 10), "in the parent's memory");
        free(block);
        MPI_Finalize();
        return size == 1 ? 17 : 1;
    }
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *block = malloc(bytes), *other = malloc(bytes);
    memset(block, 1, bytes);
    int written[2];
    CHECK(pipe(written) == 0, "pipe");
    pid_t child = fork();
    if (child == 0) {
        char c;
        if (read(written[0], &c, 1) != 1) _exit(1);   // wait until the parent has written
        if (!all(block, 1)) _exit(2);
        memset(block, 3, bytes);
        memset(other, 3, bytes);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            block[0] = 4;
            _exit(all(other, 3) && block[1] == 3 ? 5 : 6);
        }
        if (ended(grandchild) != 5 || !all(block, 3)) _exit(3);
        char *mine = malloc(bytes);
        memset(mine, 5, bytes);
        block = realloc(block, 2 * bytes);
        if (!all(block, 3)) _exit(4);
        free(block);
        free(mine);
        _exit(42);
    }
    memset(block, 2, bytes);
    memset(other, 2, bytes);
    CHECK(write(written[1], "x", 1) == 1, "write");
    int code = ended(child);
    CHECK(code == 42, "the child ended with %d", code);
    CHECK(all(block, 2) && all(other, 2), "the child has changed its parent's memory");

    char mine[32];
    snprintf(mine, sizeof mine, "%lu", inode_of(block));
    char *const words[] = {argv[0], mine, NULL};
    if ((child = fork()) == 0) execv(argv[0], words), _exit(9);
    CHECK((code = ended(child)) == 17, "fork and exec: %d", code);
    CHECK(posix_spawn(&child, argv[0], NULL, NULL, words, environ) == 0, "posix_spawn");
    CHECK((code = ended(child)) == 17, "posix_spawn: %d", code);
    CHECK(system("exit 3") >> 8 == 3, "system");

    // The parent continues as a rank.
    char *sum = malloc(bytes);
    MPI_Allreduce(block, sum, bytes, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all(sum, 2 * size), "sum %d", sum[0]);
    free(block), free(other), free(sum);
    MPI_Finalize();
    return 0;
}
