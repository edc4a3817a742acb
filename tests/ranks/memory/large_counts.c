// SPDX-License-Identifier: BSD-3-Clause
// Counts that each fit in an int but whose sum does not, and blocks whose displacement in bytes exceeds an int. One
// megabyte is mapped repeatedly, so little memory is used, and all blocks have the same content.
// ranks: 2
// nodes: one, a network would transfer all of the bytes
#define _GNU_SOURCE
#include "tests/ranks/check.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { unit = 1 << 20 };
static const int counts[2] = {1500000000, 700000000};
static const size_t total = 2200000000u;

/* Maps `bytes` bytes of address space to the same megabyte. */
static unsigned char *repeated(size_t bytes) {
    size_t const units = (bytes + unit - 1) / unit;
    int const file = memfd_create("large_counts", MFD_CLOEXEC);
    CHECK(file >= 0 && ftruncate(file, unit) == 0, "no memory file");
    unsigned char *base = mmap(NULL, units * unit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(base != MAP_FAILED, "no addresses");
    for (size_t i = 0; i < units; ++i)
        CHECK(mmap(base + i * unit, unit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED,
              "no mapping");
    close(file);
    return base;
}

/* Reserves address space that takes memory only where it is touched. */
static unsigned char *sparse(size_t bytes) {
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(base != MAP_FAILED, "no addresses");
    return base;
}

static void expect(unsigned char const *where, unsigned char value, char const *what) {
    CHECK(where[0] == value && where[unit / 2] == value, "%s: %d and %d", what, where[0], where[unit / 2]);
}

/* Each rank sends `mine` bytes of value 7 to all; each rank receives more bytes than an int counts. */
static void gather_all(int rank, unsigned char *out, unsigned char *in) {
    int const places[2] = {0, counts[0]};
    memset(in, 0, unit);
    memset(out, 7, unit);
    MPI_Allgatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, MPI_COMM_WORLD);
    expect(in + unit, 7, "MPI_Allgatherv");
}

/* The vector has more elements than an int counts; each rank's block has fewer. */
static void reduce_shares(int rank, unsigned char *out, unsigned char *in) {
    memset(in, 0, unit);
    memset(out, 3 + rank, unit);
    MPI_Reduce_scatter(out, in, counts, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    expect(in + unit, 3 | 4, "MPI_Reduce_scatter");
}

/* Few elements, whose displacements in bytes exceed an int. */
static void far_parts(int rank) {
    int const here[2] = {3, 700000}, places[2] = {700000, 5}, lengths[2] = {1, 1}, size = 2;
    MPI_Datatype wide;
    MPI_Type_create_resized(MPI_INT, 0, 8192, &wide);
    MPI_Type_commit(&wide);
    size_t const bytes = (size_t)700001 * 8192;
    unsigned char *out = sparse(bytes), *in = sparse(bytes);
#define OUT(i) (*(int *)(out + (size_t)here[i] * 8192))
#define IN(i) (*(int *)(in + (size_t)places[i] * 8192))
    for (int i = 0; i < size; ++i) OUT(i) = 10 * rank + i;
    MPI_Alltoallv(out, lengths, here, wide, in, lengths, places, wide, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) CHECK(IN(i) == 10 * i + rank, "MPI_Alltoallv: %d from %d", IN(i), i);
    MPI_Allgatherv(&OUT(1), 1, wide, in, lengths, places, wide, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) CHECK(IN(i) == 10 * i + 1, "MPI_Allgatherv: %d from %d", IN(i), i);
    for (int root = 0; root < size; ++root) {
        int mine = 100 + rank;
        MPI_Gatherv(&mine, 1, MPI_INT, in, lengths, places, wide, root, MPI_COMM_WORLD);
        for (int i = 0; i < size && rank == root; ++i) CHECK(IN(i) == 100 + i, "MPI_Gatherv: %d from %d", IN(i), i);
        MPI_Scatterv(in, lengths, places, wide, &mine, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(mine == 100 + rank, "MPI_Scatterv: %d", mine);
    }
    MPI_Allgather(MPI_IN_PLACE, 0, wide, memset(in, 0, 1), 350000, wide, MPI_COMM_SELF);   /* 2.9e9 bytes apart */
    munmap(out, bytes);
    munmap(in, bytes);
    MPI_Type_free(&wide);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unsigned char *out = repeated(total), *in = repeated(total);
    gather_all(rank, out, in);
#ifdef __SANITIZE_ADDRESS__
    if (rank == 0)
        puts("MPI_Reduce_scatter is left out: with this sanitizer coroutines hand over by ordinary calls, and\n"
             "one for each of 70,000 steps is more than the stack holds");
#else
    reduce_shares(rank, out, in);
#endif
    far_parts(rank);
    MPI_Finalize();
    return 0;
}
