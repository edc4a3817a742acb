/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out from the kernel whether a block is in the memory file that all ranks of the node share. */
#ifndef TUTTI_TESTS_ARENA_CHECK_H
#define TUTTI_TESTS_ARENA_CHECK_H

#include <stdint.h>
#include <string.h>

#include "tests/ranks/check.h"

/* A sanitizer's own allocator takes precedence, so Tutti's allocator is not used. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { uses_tutti_allocator = 0 };
#else
enum { uses_tutti_allocator = 1 };
#endif

/* Returns the inode of that memory file, or 0 if the block is elsewhere. `block` is not const because compilers would
 * then expect initialized contents. */
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

static inline int is_shared_block(void *block) { return inode_of(block) != 0; }

#define CHECK_SHARED(block) \
    CHECK(is_shared_block(block) == uses_tutti_allocator, "%p should%s be shared", (void *)(block), \
          uses_tutti_allocator ? "" : " not")
#define CHECK_PRIVATE(block) CHECK(!is_shared_block(block), "%p should not be shared", (void *)(block))

#endif
