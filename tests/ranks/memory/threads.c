// SPDX-License-Identifier: BSD-3-Clause
// ranks: 2
// Threads allocate, resize and free each other's blocks of all sizes concurrently, and fork meanwhile.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ranks/memory/arena_check.h"

enum { threads = 4, slots = 64, rounds = 3000 };

static _Atomic(unsigned char *) slot[slots];

/* A block has its size in its first and in its last bytes. */
static unsigned char *make(unsigned char *block, size_t n) {
    block = realloc(block, n);
    CHECK(block != NULL, "%zu bytes", n);
    memcpy(block, &n, sizeof n);
    memcpy(block + n - sizeof n, &n, sizeof n);
    return block;
}

static size_t check_block(unsigned char const *block) {
    size_t n, end;
    memcpy(&n, block, sizeof n);
    memcpy(&end, block + n - sizeof n, sizeof end);
    CHECK(n == end, "a block of %zu bytes ends in %zu", n, end);
    return n;
}

static void *work(void *seed_of) {
    unsigned seed = (unsigned)(uintptr_t)seed_of;
    for (int i = 0; i < rounds; i++) {
        size_t n = 16 + (size_t)rand_r(&seed) % (1u << (4 + (size_t)rand_r(&seed) % 16));
        unsigned char *block = atomic_exchange(&slot[rand_r(&seed) % slots], NULL);
        if (block) check_block(block);
        if (block && rand_r(&seed) % 2) free(block), block = NULL;
        block = atomic_exchange(&slot[rand_r(&seed) % slots], make(block, n));
        if (block) check_block(block), free(block);
        // A sanitizer's allocator does not survive a fork in another thread.
        if (uses_tutti_allocator && i % 1000 == 500) {
            pid_t child = fork();
            if (child == 0) {
                unsigned char *mine = make(malloc(40000), 60000);
                _exit(check_block(mine) == 60000 ? 11 : 1);
            }
            int status = 0;
            waitpid(child, &status, 0);
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 11, "the child ended with %x", (unsigned)status);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    pthread_t thread[threads];
    for (uintptr_t t = 0; t < threads; t++) pthread_create(&thread[t], NULL, work, (void *)(t + 1));
    for (int t = 0; t < threads; t++) pthread_join(thread[t], NULL);
    for (int i = 0; i < slots; i++) {
        if (slot[i]) check_block(slot[i]);
        free(slot[i]);
    }
    MPI_Finalize();
    return 0;
}
