// SPDX-License-Identifier: BSD-3-Clause
// A rank that waits for a nonblocking collective copies data for ranks that have started it and compute: MPI_Wait
// returns on the other ranks while rank 0 makes no call, and rank 0 finds its operation complete.
// ranks: 2 3 4
// nodes: one, it tests buffers that all ranks can access
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "arena_check.h"

enum { n = 1 << 17 };   // doubles in 1 MiB, enough that a root helps even with more ranks than cores

static int rank, size;

// Maps a shared page by which ranks communicate without MPI.
static atomic_int* shared_page(void) {
    int place[2] = {(int)getpid(), -1};
    if (rank == 0) {
        place[1] = memfd_create("either_side", 0);
        CHECK(place[1] >= 0 && ftruncate(place[1], 4096) == 0, "no memory%s", "");
    }
    MPI_Bcast(place, 2, MPI_INT, 0, MPI_COMM_WORLD);
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/fd/%d", place[0], place[1]);
    int const file = open(name, O_RDWR);
    CHECK(file >= 0, "%s cannot be opened", name);
    void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(page != MAP_FAILED, "no page%s", "");
    MPI_Barrier(MPI_COMM_WORLD);
    return page;
}

// Waits until all other ranks have returned from MPI_Wait; returns false after a minute.
static int others_have_returned(atomic_int* returned, int before) {
    for (int i = 0; i < 60000 && atomic_load(returned) != before + size - 1; ++i)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return atomic_load(returned) == before + size - 1;
}

static double *in, *out;

// With more than two ranks, larger blocks of an allgather are written only by their owners.
static int count(int what) { return what == 3 ? 8192 : n; }

static void start(int what, MPI_Request* request) {
    switch (what) {
    case 0: MPI_Ibcast(out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD, request); break;
    case 1: MPI_Ibcast(out, n, MPI_DOUBLE, 1, MPI_COMM_WORLD, request); break;
    case 2: MPI_Iallreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request); break;
    case 3: MPI_Iallgather(in, count(3), MPI_DOUBLE, out, count(3), MPI_DOUBLE, MPI_COMM_WORLD, request); break;
    case 4: MPI_Ialltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD, request); break;
    }
}

static double expected(int what, int block) {
    switch (what) {
    case 0: return 1000;
    case 1: return 1001;
    case 2: return size * (size - 1) / 2;
    case 3: return block;
    default: return 100 * block + rank;
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    atomic_int* const returned = shared_page();
    in = malloc(sizeof(double) * n * (size_t)size), out = malloc(sizeof(double) * n * (size_t)size);
    for (int what = 0; what < 5; ++what)
        for (int round = 0; round < 3; ++round) {
            int const before = atomic_load(returned), blocks = what < 3 ? 1 : size;
            for (int i = 0; i < size * n; ++i) in[i] = what == 4 ? 100 * rank + i / n : rank;
            for (int i = 0; i < size * n; ++i) out[i] = what < 2 ? 1000 + rank : -1;
            MPI_Request request;
            MPI_Barrier(MPI_COMM_WORLD);
            start(what, &request);
            // The other ranks' transfers need the posted buffers of all ranks, but no help from rank 0.
            if (rank == 0 && uses_tutti_allocator)
                CHECK(others_have_returned(returned, before), "operation %d waits for the computing rank", what);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            for (int i = 0; i < blocks * count(what); ++i)
                CHECK(out[i] == expected(what, i / count(what)), "operation %d: %g at %d", what, out[i], i);
            if (rank != 0) atomic_fetch_add(returned, 1);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
