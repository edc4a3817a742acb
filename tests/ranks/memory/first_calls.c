// SPDX-License-Identifier: BSD-3-Clause
// The first calls on a communicator use eight channels. Their shared memory is contiguous, or mapped from the first
// call on, so that later calls take few page faults.
// ranks: 8
// nodes: one, it measures memory that the ranks of a node share
#include <string.h>
#include <sys/resource.h>

#include "../check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { faults_count = 0 };   // a sanitizer allocates memory of its own
#else
enum { faults_count = 1 };
#endif

enum { calls = 9, most = 8192 / sizeof(double), max_ranks = 8 };

static long page_faults(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_minflt;
}

static double in[most * max_ranks], out[most * max_ranks];

static void allreduce(int n, MPI_Comm comm) { MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm); }
static void allgather(int n, MPI_Comm comm) { MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm); }
static void alltoall(int n, MPI_Comm comm) { MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm); }
static void bcast(int n, MPI_Comm comm) { MPI_Bcast(in, n, MPI_DOUBLE, 0, comm); }

// Page faults of calls 2 to 9, averaged over the ranks; the ranks start each call together.
static double faults_after_the_first(void (*call)(int, MPI_Comm), int n, MPI_Comm comm, MPI_Comm other) {
    long mine = 0, sum = 0;
    int size;
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < calls; ++i) {
        MPI_Barrier(other);
        long const before = page_faults();
        call(n, comm);
        if (i > 0) mine += page_faults() - before;
    }
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, other);
    return (double)sum / size;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    MPI_Comm other, third;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_dup(MPI_COMM_WORLD, &third);
    for (int i = 0; i < 3 * calls; ++i) MPI_Barrier(other);
    struct {
        char const* name;
        void (*call)(int, MPI_Comm);
        int bytes;
        MPI_Comm comm;
    } const cases[] = {
        // Other communicators have small slots, or slots that are allocated page by page.
        {"allreduce", allreduce, 8, third},
        {"allreduce", allreduce, 256, third},
        {"allreduce", allreduce, 512, third},
        {"allreduce", allreduce, 8, MPI_COMM_WORLD},
        {"allreduce", allreduce, 256, MPI_COMM_WORLD},
        {"allreduce", allreduce, 4096, MPI_COMM_WORLD},
        {"allreduce", allreduce, 8192, MPI_COMM_WORLD},
        {"allgather", allgather, 512, MPI_COMM_WORLD},
        {"allgather", allgather, 4096, MPI_COMM_WORLD},
        {"alltoall", alltoall, 8, MPI_COMM_WORLD},
        {"alltoall", alltoall, 512, MPI_COMM_WORLD},
        {"bcast", bcast, 4096, MPI_COMM_WORLD},
    };
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; ++k) {
        double const faults =
            faults_after_the_first(cases[k].call, cases[k].bytes / (int)sizeof(double), cases[k].comm, other);
        // Eight channels with a page for each peer caused 35 to 50 faults.
        if (faults_count)
            CHECK(faults <= 8, "%s of %d bytes: %g page faults per rank in calls 2 to 9", cases[k].name, cases[k].bytes,
                  faults);
    }
    MPI_Comm_free(&other);
    MPI_Comm_free(&third);
    MPI_Finalize();
    return 0;
}
