// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 3
// alone: it allocates memory before main
// The allocation functions: large blocks are in memory that other ranks can map, small blocks are not. All else behaves
// like the C library, before main, before MPI_Init, and after MPI_Finalize.
#include <errno.h>
#include <malloc.h>

#include "tests/ranks/memory/arena_check.h"

enum { small = 1000, large = 1 << 20 };

static char *early;
__attribute__((constructor)) static void before_main(void) { early = malloc(large); }

static void fill(char *block, size_t n, int seed) {
    for (size_t i = 0; i < n; i++) block[i] = (char)(i * 7 + (size_t)seed);
}

static void check_filled(char const *block, size_t n, int seed) {
    for (size_t i = 0; i < n; i++) CHECK(block[i] == (char)(i * 7 + (size_t)seed), "byte %zu of %zu", i, n);
}

static void sizes(void) {
    char *s = malloc(small), *l = malloc(large), *zero = malloc(0);
    CHECK_PRIVATE(s);
    CHECK_SHARED(l);
    CHECK(zero != NULL, "malloc(0)");
    CHECK(malloc_usable_size(l) >= large, "usable size %zu", malloc_usable_size(l));
    CHECK(malloc_usable_size(s) >= small, "usable size %zu", malloc_usable_size(s));
    fill(l, malloc_usable_size(l), 1);
    errno = 77;
    free(l);
    CHECK(errno == 77, "free must not change errno");
    free(s);
    free(zero);
    free(NULL);
    if (!uses_tutti_allocator) return;   // a sanitizer ends the program on huge sizes
    errno = 0;
    size_t volatile most = SIZE_MAX;   // volatile hides the value from the compiler
    CHECK(malloc(most - 100) == NULL && errno == ENOMEM, "too much");
    CHECK(calloc(most / 2, 3) == NULL, "overflow");
}

static void changes_of_size(void) {
    static size_t const sizes[] = {1, 100, 8000, 8191, 8192, 8193, 40000, 200000, 3000000, 9, 70000, 20000000, 50};
    int const n = sizeof sizes / sizeof *sizes;
    for (int from = 0; from < n; from++) {
        for (int to = 0; to < n; to++) {
            char *block = malloc(sizes[from]), *in_the_way = malloc(sizes[from]);
            fill(block, sizes[from], from);
            block = realloc(block, sizes[to]);
            check_filled(block, sizes[from] < sizes[to] ? sizes[from] : sizes[to], from);
            if (sizes[to] < 8192) CHECK_PRIVATE(block);
            else CHECK_SHARED(block);
            fill(block, sizes[to], to);
            check_filled(block, sizes[to], to);
            free(in_the_way);
            free(block);
        }
    }
    char *block = realloc(NULL, large);
    CHECK_SHARED(block);
    CHECK(realloc(block, 0) == NULL, "realloc to nothing frees");
}

static void zeroes(void) {
    for (int turn = 0; turn < 20; turn++) {
        size_t n = (size_t)(turn + 1) * 50000;
        char *block = calloc(n, 1);
        for (size_t i = 0; i < n; i++) CHECK(block[i] == 0, "byte %zu of %zu", i, n);
        memset(block, turn + 1, n);
        free(block);
    }
}

static void alignments(void) {
    for (size_t a = sizeof(void *); a <= 8 << 20; a *= 2) {
        for (size_t n = 100; n < 10 * large; n *= 100) {
            void *p = NULL;
            CHECK(posix_memalign(&p, a, n) == 0, "alignment %zu, %zu bytes", a, n);
            CHECK((uintptr_t)p % a == 0, "alignment %zu, %zu bytes: %p", a, n, p);
            memset(p, 1, n);
            free(p);
            p = aligned_alloc(a, (n + a - 1) / a * a);
            CHECK(p && (uintptr_t)p % a == 0, "alignment %zu, %zu bytes: %p", a, n, p);
            memset(p, 1, n);
            p = realloc(p, n + large);
            memset(p, 2, n + large);
            free(p);
            p = memalign(a, n);
            CHECK(p && (uintptr_t)p % a == 0, "alignment %zu, %zu bytes: %p", a, n, p);
            free(p);
        }
    }
    void *p = &p;
    if (uses_tutti_allocator) CHECK(posix_memalign(&p, 24, large) == EINVAL, "24 is not a power of two");
    p = valloc(large);
    CHECK_SHARED(p);
    free(p);
    p = pvalloc(large + 1);
    CHECK(malloc_usable_size(p) >= large + 4096, "whole pages");
    free(p);
}

static void from_mpi(void) {
    for (MPI_Aint n = 0; n <= large; n = n * 2 + 1) {
        char *block;
        MPI_Alloc_mem(n, MPI_INFO_NULL, &block);
        CHECK(is_shared_block(block), "MPI_Alloc_mem of %ld bytes", (long)n);   // with any allocator of the program
        memset(block, 1, (size_t)n);
        MPI_Free_mem(block);
    }
}

int main(int argc, char **argv) {
    char *before_init = malloc(large);
    MPI_Init(&argc, &argv);
    CHECK_SHARED(early);
    CHECK_SHARED(before_init);
    fill(early, large, 5);
    sizes();
    changes_of_size();
    zeroes();
    alignments();
    from_mpi();
    check_filled(early, large, 5);
    char *kept = malloc(large);
    fill(kept, large, 6);
    MPI_Finalize();
    check_filled(kept, large, 6);
    kept = realloc(kept, 4 * large);
    check_filled(kept, large, 6);
    free(kept);
    free(early);
    free(before_init);
    sizes();
    return 0;
}
