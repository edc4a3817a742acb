// SPDX-License-Identifier: BSD-3-Clause
// A part without bytes still has an address in memory that MPI allocates. In a contiguous shared window, each part
// begins where the one before it ends, so that ranks without memory can compute the others' addresses from their own. A
// query of MPI_PROC_NULL returns the first part that has bytes.
// ranks: 1 2 4
// run in_segment: 2 4 TUTTI_ARENA=no
// nodes: one, it tests shared windows
#include <string.h>

#include "tests/ranks/check.h"

static int rank, size;

static void* base_attribute(MPI_Win win) {
    void* base;
    int found;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &found);
    CHECK(found, "%s", "MPI_WIN_BASE");
    return base;
}

/* The size of each rank's part is in `bytes`. */
static void parts(const int* bytes, int noncontiguous) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", noncontiguous ? "true" : "false");
    char *mine, *base, *first = NULL, *end = NULL;
    MPI_Win win;
    MPI_Win_allocate_shared(bytes[rank], 1, info, MPI_COMM_WORLD, &mine, &win);
    CHECK(mine != NULL, "%d bytes", bytes[rank]);
    CHECK(base_attribute(win) == mine, "MPI_WIN_BASE is not %p", (void*)mine);
    MPI_Win_lock_all(0, win);
    memset(mine, 'a' + rank, (size_t)bytes[rank]);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    for (int r = 0; r < size; ++r) {
        MPI_Aint found;
        int unit;
        MPI_Win_shared_query(win, r, &found, &unit, &base);
        CHECK(found == bytes[r], "the part of rank %d has %ld bytes", r, (long)found);
        CHECK(base != NULL, "the part of rank %d, of %ld bytes, has no address", r, (long)found);
        CHECK(r != rank || base == mine, "the own part is at %p, and at %p for MPI_Win_shared_query", (void*)mine,
              (void*)base);
        CHECK(noncontiguous || !end || base == end, "the part of rank %d is at %p instead of %p", r, (void*)base,
              (void*)end);
        for (int i = 0; i < bytes[r]; ++i) CHECK(base[i] == 'a' + r, "byte %d of rank %d is %d", i, r, base[i]);
        if (!first && bytes[r] != 0) first = base;
        end = base + found;
    }
    MPI_Aint found;
    int unit, most = 0;
    for (int r = 0; r < size; ++r) most = most ? most : bytes[r];
    MPI_Win_shared_query(win, MPI_PROC_NULL, &found, &unit, &base);
    CHECK(found == most, "MPI_PROC_NULL finds %ld bytes instead of %d", (long)found, most);
    CHECK(base != NULL && (!first || base == first), "MPI_PROC_NULL finds %p instead of %p", (void*)base, (void*)first);
    MPI_Win_unlock_all(win);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* All combinations of ranks that have bytes; 4096 gives parts of whole pages. */
    for (int noncontiguous = 0; noncontiguous < 2; ++noncontiguous)
        for (int each = 8; each <= 4096; each *= 512)
            for (int who = 0; who < 1 << size; ++who) {
                int bytes[4];
                for (int r = 0; r < size; ++r) bytes[r] = who >> r & 1 ? each : 0;
                parts(bytes, noncontiguous);
            }
    void* memory;
    MPI_Win win;
    MPI_Win_allocate(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    CHECK(memory != NULL && base_attribute(win) == memory, "MPI_Win_allocate: %p, MPI_WIN_BASE %p", memory,
          base_attribute(win));
    MPI_Win_free(&win);
    MPI_Win_create(&size, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CHECK(base_attribute(win) == &size, "MPI_Win_create: MPI_WIN_BASE is %p instead of %p", base_attribute(win),
          (void*)&size);
    MPI_Win_free(&win);
    MPI_Alloc_mem(0, MPI_INFO_NULL, &memory);
    CHECK(memory != NULL, "%s", "MPI_Alloc_mem");
    MPI_Free_mem(memory);
    MPI_Finalize();
    return 0;
}
