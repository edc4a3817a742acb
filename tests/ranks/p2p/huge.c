// SPDX-License-Identifier: BSD-3-Clause
// huge [MIB [message]]: ranks 0 and 1 exchange this many MiB by each kind of call, or in one message. Messages of more
// bytes than an int counts take gigabytes, so the default is short; huge_messages_test.sh runs the program with long
// messages, in each protocol, and with a static array (-DSTATIC_MIB) instead of heap memory.
// ranks: 2
// args: 20
#include <stdint.h>
#include <string.h>

#include "tests/ranks/check.h"

enum { mib = 1 << 20, gap = 1024, words = mib / 8, step = 61 };

static int rank, other;
static long units;
static uint64_t* buffer;   // of `units` MiB
#ifdef STATIC_MIB
static uint64_t array[(size_t)STATIC_MIB * words];
#endif
static MPI_Datatype whole, most;   // a MiB; a MiB without its last bytes

static long bytes_of(MPI_Datatype type) {
    int size;
    MPI_Type_size(type, &size);
    return units * size;
}

static uint64_t word(long at, int round) { return (uint64_t)at * 0x9e3779b97f4a7c15u + (uint64_t)round; }

static void fill(uint64_t* to, int round) {
    for (long i = 0; i < units * words; i += step) to[i] = word(i, round);
}

// Finds misplaced data, for example by a multiple of 2 or 4 GiB: no two words are equal, and every 61st is checked.
// Gaps must be unchanged.
static void expect(uint64_t const* in, int round, int gaps, int before, char const* what) {
    for (long i = 0; i < units * words; i += step) {
        int const kept = gaps && i % words >= (mib - gap) / 8;
        CHECK(in[i] == word(i, kept ? before : round), "%s: word %ld", what, i);
    }
}

// MPI 3.1, 3.2.5 and 4.1.11: a count that does not fit in an int is MPI_UNDEFINED, but fits in an MPI_Count.
static void expect_counts(MPI_Status const* status, MPI_Datatype type, char const* what) {
    long const bytes = bytes_of(type);
    int const small = bytes > INT32_MAX ? MPI_UNDEFINED : (int)bytes;
    int got = -1;
    MPI_Count exact = -1;
    MPI_Get_count(status, type, &got);
    CHECK(got == units, "%s: %d instead of %ld units", what, got, units);
    MPI_Get_count(status, MPI_BYTE, &got);
    CHECK(got == small, "%s: MPI_Get_count of bytes gave %d", what, got);
    MPI_Get_elements(status, type, &got);
    CHECK(got == small, "%s: MPI_Get_elements gave %d", what, got);
    MPI_Get_elements_x(status, type, &exact);
    CHECK(exact == bytes, "%s: MPI_Get_elements_x gave %lld", what, (long long)exact);
    MPI_Get_elements_x(status, MPI_BYTE, &exact);
    CHECK(exact == bytes, "%s: MPI_Get_elements_x of bytes gave %lld", what, (long long)exact);
}

static void send_and_receive(int sender, MPI_Datatype type, int round) {
    MPI_Status status;
    MPI_Message message;
    fill(buffer, rank == sender ? round : -round);
    if (rank == sender) {
        MPI_Send(buffer, (int)units, type, other, round, MPI_COMM_WORLD);
        return;
    }
    MPI_Mprobe(sender, round, MPI_COMM_WORLD, &message, &status);
    expect_counts(&status, type, "MPI_Mprobe");
    MPI_Mrecv(buffer, (int)units, type, &message, &status);
    expect_counts(&status, type, "MPI_Mrecv");
    expect(buffer, round, type == most, -round, "MPI_Mrecv");
}

// A posted receive, in one direction only, so that each rank needs memory for one buffer.
static void posted(int sender, int round) {
    MPI_Status status;
    char token = 0;
    fill(buffer, rank == sender ? round : -round);
    if (rank == sender) {
        MPI_Recv(&token, 1, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(buffer, (int)units, whole, other, 2, &token, 1, MPI_CHAR, other, 3, MPI_COMM_WORLD, &status);
        return;
    }
    MPI_Request request;
    MPI_Irecv(buffer, (int)units, whole, other, 2, MPI_COMM_WORLD, &request);
    MPI_Send(&token, 1, MPI_CHAR, other, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    expect_counts(&status, whole, "MPI_Wait");
    MPI_Send(&token, 1, MPI_CHAR, other, 3, MPI_COMM_WORLD);
    expect(buffer, round, 0, 0, "MPI_Irecv");
}

static void broadcast(int root, MPI_Datatype type, int round) {
    fill(buffer, rank == root ? round : -round);
    MPI_Bcast(buffer, (int)units, type, root, MPI_COMM_WORLD);
    if (rank != root) expect(buffer, round, type == most, -round, "MPI_Bcast");
}

// Fewer elements than an int counts, with more bytes than an int counts.
static void sum(void) {
    long const n = units * words;
    for (long i = 0; i < n; i += step) buffer[i] = (uint64_t)(i + rank);
    MPI_Allreduce(MPI_IN_PLACE, buffer, (int)n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (long i = 0; i < n; i += step) CHECK(buffer[i] == 2 * (uint64_t)i + 1, "MPI_Allreduce: element %ld", i);
}

// The peer reads and writes the target's part, which is as large as its own.
static void one_sided(MPI_Datatype type) {
    MPI_Win window;
    fill(buffer, rank + 30);
    MPI_Win_create(buffer, (MPI_Aint)(units * mib), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (rank == 0) MPI_Put(buffer, (int)units, type, 1, 0, (int)units, type, window);
    MPI_Win_fence(0, window);
    if (rank == 1) expect(buffer, 30, type == most, 31, "MPI_Put"), fill(buffer, 40);
    MPI_Win_fence(0, window);
    if (rank == 0) MPI_Get(buffer, (int)units, type, 1, 0, (int)units, type, window);
    MPI_Win_fence(0, window);
    if (rank == 0) expect(buffer, 40, type == most, 30, "MPI_Get");
    MPI_Win_free(&window);
}

// Rank 1 frees its memory for this.
static void to_itself(void) {
    MPI_Status status;
    if (rank == 1) free(buffer), buffer = NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) return;
    uint64_t* copy = malloc((size_t)units * mib);
    CHECK(copy, "no memory");
    fill(buffer, 50);
    MPI_Sendrecv(buffer, (int)units, whole, 0, 0, copy, (int)units, whole, 0, 0, MPI_COMM_SELF, &status);
    expect_counts(&status, whole, "MPI_Sendrecv to itself");
    expect(copy, 50, 0, 0, "MPI_Sendrecv to itself");
    free(copy);
}

// Heap memory, or a static array.
static void get_buffer(void) {
#ifdef STATIC_MIB
    CHECK(units <= STATIC_MIB, "the array has %d MiB", STATIC_MIB);
    buffer = array;
#else
    buffer = malloc((size_t)units * mib);
    CHECK(buffer, "no memory");
#endif
}

static void every_other_call(void) {
    send_and_receive(1, most, 2);
    posted(1, 3);
    broadcast(1, whole, 4);
    broadcast(0, most, 5);
    sum();
    one_sided(whole);
    one_sided(most);
    to_itself();
    free(buffer);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    units = argc > 1 ? atol(argv[1]) : 20;
    MPI_Datatype most_bytes;
    MPI_Type_contiguous(mib, MPI_BYTE, &whole);
    MPI_Type_contiguous(mib - gap, MPI_BYTE, &most_bytes);
    MPI_Type_create_resized(most_bytes, 0, mib, &most);
    MPI_Type_commit(&whole);
    MPI_Type_commit(&most);
    get_buffer();
    send_and_receive(0, whole, 1);
    if (argc < 3) every_other_call();
    MPI_Type_free(&whole);
    MPI_Type_free(&most);
    MPI_Type_free(&most_bytes);
    MPI_Finalize();
    return 0;
}
