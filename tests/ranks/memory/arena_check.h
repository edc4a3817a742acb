/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a block lies, as the kernel sees it: in the memory file that all ranks of the node share, or elsewhere. */
#ifndef TUTTI_TESTS_ARENA_CHECK_H
#define TUTTI_TESTS_ARENA_CHECK_H

#include <stdint.h>
#include <string.h>

#include "tests/ranks/check.h"

/* A sanitizer brings its own allocator, which comes first: the arena stands aside. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { allocator_is_ours = 0 };
#else
enum { allocator_is_ours = 1 };
#endif

/* The number of that memory file, or 0 if the block lies elsewhere. Not `const`: compilers expect contents then. */
static inline unsigned long inode_of(void *block) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long found = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from = 0, to = 0, inode = 0;
        sscanf(line, "%lx-%lx %*s %*s %*s %lu", &from, &to, &inode);
        if ((uintptr_t)block >= from && (uintptr_t)block < to && strstr(line, "memfd:tutti")) found = inode;
    }
    if (maps) fclose(maps);
    return found;
}

static inline int shared(void *block) { return inode_of(block) != 0; }

#define CHECK_SHARED(block) \
    CHECK(shared(block) == allocator_is_ours, "%p should%s be shared", (void *)(block), allocator_is_ours ? "" : " not")
#define CHECK_PRIVATE(block) CHECK(!shared(block), "%p should not be shared", (void *)(block))

#endif
