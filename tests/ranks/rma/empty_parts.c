// SPDX-License-Identifier: BSD-3-Clause
// Of a shared window, a part without bytes has no address, and MPI_PROC_NULL finds the first part that has one.
// ranks: 1 2 4
// nodes: one, it is about shared windows
#include "tests/ranks/check.h"

static void parts(int first_with_bytes, int noncontiguous) {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", noncontiguous ? "true" : "false");
    char *mine, *base;
    MPI_Win win;
    MPI_Win_allocate_shared(rank >= first_with_bytes ? 8 : 0, 1, info, MPI_COMM_WORLD, &mine, &win);
    for (int r = 0; r < size; ++r) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(win, r, &bytes, &unit, &base);
        CHECK(bytes == (r >= first_with_bytes ? 8 : 0), "part of rank %d has %ld bytes", r, (long)bytes);
        CHECK((base != NULL) == (bytes != 0), "part of rank %d of %ld bytes lies at %p", r, (long)bytes, (void*)base);
    }
    MPI_Aint bytes;
    int unit;
    char* of_first = NULL;
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &base);
    if (first_with_bytes < size) MPI_Win_shared_query(win, first_with_bytes, &bytes, &unit, &of_first);
    CHECK(base == of_first, "MPI_PROC_NULL finds %p instead of %p", (void*)base, (void*)of_first);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int noncontiguous = 0; noncontiguous < 2; ++noncontiguous)
        for (int first = 0; first <= size; ++first) parts(first, noncontiguous);
    MPI_Finalize();
    return 0;
}
