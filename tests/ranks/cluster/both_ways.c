// SPDX-License-Identifier: BSD-3-Clause
// Large messages in both directions at the same time: no rank may wait for its peer to read first. Between pairs, among
// all ranks, and around a ring from noncontiguous memory. Each message is larger than the socket buffers.
// ranks: 2 3 4 5 6 8
#include <string.h>

#include "tests/ranks/check.h"

enum { large = 3 << 20, block = 1 << 20 };

static int rank, size;

static unsigned char byte_of(int from, int to, size_t i) {
    return (unsigned char)(from * 31 + to * 17 + i * 7 + (i >> 12));
}
static void fill(unsigned char *data, int from, int to, size_t n) {
    for (size_t i = 0; i < n; ++i) data[i] = byte_of(from, to, i);
}
static void expect(const unsigned char *data, int from, int to, size_t n) {
    for (size_t i = 0; i < n; ++i)
        CHECK(data[i] == byte_of(from, to, i), "byte %zu from %d to %d is %d instead of %d", i, from, to, data[i],
              byte_of(from, to, i));
}

static void pairs(unsigned char *out, unsigned char *in) {
    for (int a = 0; a < size; ++a)
        for (int b = a + 1; b < size; ++b) {
            if (rank != a && rank != b) continue;
            int other = rank == a ? b : a;
            fill(out, rank, other, large);
            memset(in, 0, large);
            MPI_Sendrecv(out, large, MPI_BYTE, other, 1, in, large, MPI_BYTE, other, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            expect(in, other, rank, large);
        }
}

static void all_ranks(unsigned char *out, unsigned char *in) {
    MPI_Request requests[128];
    int n = 0;
    memset(in, 0, (size_t)size * block);
    for (int r = 0; r < size; ++r) fill(out + (size_t)r * block, rank, r, block);
    for (int r = 0; r < size; ++r)
        MPI_Isend(out + (size_t)r * block, block, MPI_BYTE, r, 2, MPI_COMM_WORLD, &requests[n++]);
    for (int r = 0; r < size; ++r)
        MPI_Irecv(in + (size_t)r * block, block, MPI_BYTE, r, 2, MPI_COMM_WORLD, &requests[n++]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int r = 0; r < size; ++r) expect(in + (size_t)r * block, r, rank, block);
}

// Sends every second byte of the sender's buffer to every second byte of the receiver's.
static void ring_with_gaps(unsigned char *out, unsigned char *in) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Datatype sparse;
    MPI_Type_vector(large / 2, 1, 2, MPI_BYTE, &sparse);
    MPI_Type_commit(&sparse);
    fill(out, rank, next, large);
    memset(in, 0, large);
    MPI_Request sent;
    MPI_Isend(out, 1, sparse, next, 3, MPI_COMM_WORLD, &sent);
    MPI_Recv(in, 1, sparse, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < large; ++i)
        CHECK(in[i] == (i % 2 ? 0 : byte_of(before, rank, i)), "byte %zu from %d is %d", i, before, in[i]);
    MPI_Type_free(&sparse);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    size_t bytes = (size_t)size * block > large ? (size_t)size * block : large;
    unsigned char *out = malloc(bytes), *in = malloc(bytes);
    pairs(out, in);
    all_ranks(out, in);
    ring_with_gaps(out, in);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
