// SPDX-License-Identifier: BSD-3-Clause
// Who waits for a nonblocking collective copies for those who have begun it and compute: the others' MPI_Wait returns
// while rank 0 makes no call, and rank 0 finds everything done.
// ranks: 2 3 4
// nodes: one, it is about buffers that all ranks reach
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "arena_check.h"

enum { n = 1 << 17 };   // doubles in 1 MiB: also with more ranks than cores a root helps

static int rank, size;

// A page of our own, by which ranks tell each other something without MPI.
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

// Until all others have come back from MPI_Wait; false after a minute.
static int others_are_through(atomic_int* through, int before) {
    for (int i = 0; i < 60000 && atomic_load(through) != before + size - 1; ++i)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return atomic_load(through) == before + size - 1;
}

static double *in, *out;

// Of more than two ranks, larger blocks of an allgather are written by their owners alone.
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

static double wanted(int what, int block) {
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
    atomic_int* const through = shared_page();
    in = malloc(sizeof(double) * n * (size_t)size), out = malloc(sizeof(double) * n * (size_t)size);
    for (int what = 0; what < 5; ++what)
        for (int round = 0; round < 3; ++round) {
            int const before = atomic_load(through), blocks = what < 3 ? 1 : size;
            for (int i = 0; i < size * n; ++i) in[i] = what == 4 ? 100 * rank + i / n : rank;
            for (int i = 0; i < size * n; ++i) out[i] = what < 2 ? 1000 + rank : -1;
            MPI_Request request;
            MPI_Barrier(MPI_COMM_WORLD);
            start(what, &request);
            // The parts of others need the ranks' posts: theirs and mine, not my help.
            if (rank == 0 && allocator_is_ours)
                CHECK(others_are_through(through, before), "operation %d waits for the one who computes", what);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            for (int i = 0; i < blocks * count(what); ++i)
                CHECK(out[i] == wanted(what, i / count(what)), "operation %d: %g at %d", what, out[i], i);
            if (rank != 0) atomic_fetch_add(through, 1);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
