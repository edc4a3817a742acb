/* SPDX-License-Identifier: BSD-3-Clause */
/* The system refuses some CMA copies and moves only a part of others. Whichever access method a transfer continues
 * with, the data is right, each rank continues, and later copies use CMA again. */
// ranks: 2 3 4
// alone: it replaces the system calls for CMA
// run apart: 2 4 apart
// nodes: one, CMA works within a node
#define _GNU_SOURCE
#include "tests/ranks/check.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { n = 300000, rounds = 12 };
static int out[n], in[4 * n];
static unsigned chance = 1;
static int refuses = 0, copies = 0, refused = 0, forbidden = 0;

static unsigned draw(unsigned below) {
    chance = chance * 1103515245u + 12345u;
    return (chance >> 16) % below;
}

static ssize_t move(long call, pid_t pid, const struct iovec *here, const struct iovec *there) {
    static const int errors[] = {ESRCH, ENOMEM, EAGAIN};
    struct iovec from = *there, to = *here;
    if (refuses && there->iov_len > 8) {   /* the probe that identifies a process always succeeds */
        unsigned const what = draw(6);
        if (what < 2) return ++refused, errno = errors[draw(3)], -1;
        if (what == 2 && from.iov_len > 4096) from.iov_len = to.iov_len = from.iov_len / 2;
    }
    ssize_t const moved = syscall(call, pid, &to, 1, &from, 1, 0);
    if (moved > 8) ++copies;
    if (moved < 0 && (errno == EPERM || errno == ENOSYS)) forbidden = 1;
    return moved;
}

__attribute__((visibility("default")))
ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long a, const struct iovec *there,
                         unsigned long b, unsigned long flags) {
    (void)a, (void)b, (void)flags;
    return move(SYS_process_vm_readv, pid, here, there);
}

__attribute__((visibility("default")))
ssize_t process_vm_writev(pid_t pid, const struct iovec *here, unsigned long a, const struct iovec *there,
                          unsigned long b, unsigned long flags) {
    (void)a, (void)b, (void)flags;
    return move(SYS_process_vm_writev, pid, here, there);
}

static void fill(int rank, int round) {
    for (int i = 0; i < n; ++i) out[i] = rank * 1000 + round + i;
    memset(in, -1, sizeof in);
}

static void compare(char const *what, int round, int from, int count, int const *found) {
    for (int i = 0; i < count; ++i)
        CHECK(found[i] == from * 1000 + round + i, "%s, round %d, from %d: element %d is %d", what, round, from, i,
              found[i]);
}

static void messages(int me, int ranks, int round, MPI_Datatype pairs) {
    int const to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
    int const counts[] = {10000, 40000, 120000, n};
    for (int k = 0; k < 4; ++k) {
        int const count = counts[k];
        fill(me, round);
        MPI_Sendrecv(out, count, MPI_INT, to, 1, in, count, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compare("Sendrecv", round, from, count, in);
        memset(in, -1, sizeof in);
        MPI_Sendrecv(out, count, MPI_INT, to, 1, in, count / 2, pairs, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; ++i)
            CHECK(in[3 * (i / 2) + i % 2] == from * 1000 + round + i, "with gaps, round %d: element %d", round, i);
    }
    MPI_Request request[8];
    fill(me, round);
    for (int k = 0; k < 4; ++k)   /* several in flight at the same time */
        MPI_Irecv(in + k * n, n / 4, MPI_INT, from, k, MPI_COMM_WORLD, &request[k]);
    for (int k = 0; k < 4; ++k) MPI_Isend(out, n / 4, MPI_INT, to, k, MPI_COMM_WORLD, &request[4 + k]);
    MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 4; ++k) compare("Isend", round, from, n / 4, in + k * n);
}

static void collectives(int me, int ranks, int round) {
    int const part = n / ranks, root = round % ranks;
    fill(me, round);
    if (me != root) memset(out, -1, sizeof out);
    MPI_Bcast(out, n, MPI_INT, root, MPI_COMM_WORLD);
    compare("Bcast", round, root, n, out);
    fill(me, round);
    MPI_Gather(out, part, MPI_INT, in, part, MPI_INT, root, MPI_COMM_WORLD);
    for (int r = 0; me == root && r < ranks; ++r) compare("Gather", round, r, part, in + r * part);
    MPI_Allgather(out, part, MPI_INT, in, part, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; ++r) compare("Allgather", round, r, part, in + r * part);
    memset(in, -1, sizeof in);
    MPI_Alltoall(out, part, MPI_INT, in, part, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; ++r) compare("Alltoall", round + me * part, r, part, in + r * part);
    memset(in, -1, sizeof in);
    MPI_Scatter(out, part, MPI_INT, in, part, MPI_INT, root, MPI_COMM_WORLD);
    compare("Scatter", round + me * part, root, part, in);
    MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; ++i)
        CHECK(in[i] == 1000 * ranks * (ranks - 1) / 2 + ranks * (round + i), "Allreduce: element %d is %d", i, in[i]);
}

static int shared[2 * n];

static void windows(int me, int ranks, int round, MPI_Win window) {
    int const to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
    fill(me, round);
    MPI_Win_fence(0, window);
    MPI_Put(out, n / 2, MPI_INT, to, 0, n / 2, MPI_INT, window);
    for (int r = 0; r < ranks; ++r) MPI_Accumulate(out, 20000, MPI_INT, r, n, 20000, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    compare("Put", round, from, n / 2, shared);
    MPI_Get(in, n / 2, MPI_INT, to, 0, n / 2, MPI_INT, window);
    MPI_Win_fence(0, window);
    compare("Get", round, me, n / 2, in);
    for (int i = 0; i < 20000; ++i)
        CHECK(shared[n + i] == 1000 * ranks * (ranks - 1) / 2 + ranks * (round + i), "Accumulate, round %d: element %d",
              round, i);
    memset(shared, 0, sizeof shared);
    MPI_Win_fence(0, window);
}

int main(int argc, char **argv) {
    int me, ranks, at_all;
    MPI_Win window;
    MPI_Datatype two, pairs;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_create_resized(two, 0, 3 * sizeof(int), &pairs);
    MPI_Type_free(&two);
    MPI_Type_commit(&pairs);
    MPI_Win_create(shared, sizeof shared, sizeof *shared, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    chance = (unsigned)me + 1;
    int const some = argc > 1;   /* only rank 1's copies are refused */
    for (int round = 0; round < rounds; ++round) {
        refuses = !some || me == 1;
        messages(me, ranks, round, pairs);
        collectives(me, ranks, round);
        windows(me, ranks, round, window);
    }
    refuses = copies = 0;
    messages(me, ranks, rounds, pairs);
    int sums[3] = {copies, refused, forbidden};
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    char const *const setting = getenv("TUTTI_CMA");
    at_all = sums[2] == 0 && !(setting && strcmp(setting, "no") == 0);
    CHECK(!at_all || sums[0] > 0, "no copy by CMA after %d refusals", sums[1]);
    MPI_Type_free(&pairs);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
