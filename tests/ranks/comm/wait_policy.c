/* SPDX-License-Identifier: BSD-3-Clause */
/* The info key tutti_wait: rank 1 waits for 30 ms in several ways, on a communicator where it soon sleeps, like the
 * whole job, and on one where it keeps polling. A counter of rank 1 counts its sleeps. */
// ranks: 2
// env: TUTTI_WAIT=shared TUTTI_SLEEP_AFTER=60000 TUTTI_QUIET=1
#include <string.h>
#include <unistd.h>

#include "tests/ranks/counter.h"

static Counter sleeps;

static void barrier(MPI_Comm comm, int rank) {
    (void)rank;
    MPI_Barrier(comm);
}

static void receive(MPI_Comm comm, int rank) {
    if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 0, comm);
    else MPI_Recv(&rank, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
}

static void wait(MPI_Comm comm, int rank) {
    MPI_Request request;
    if (rank == 0) {
        MPI_Send(&rank, 1, MPI_INT, 1, 0, comm);
        return;
    }
    MPI_Irecv(&rank, 1, MPI_INT, 0, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void fence(MPI_Comm comm, int rank) {
    static int memory;
    static MPI_Win window = MPI_WIN_NULL;
    static MPI_Comm of = MPI_COMM_NULL;
    if (of != comm) {   /* the first call creates the window, the second is measured */
        if (window != MPI_WIN_NULL) MPI_Win_free(&window);
        MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, comm, &window);
        of = comm;
    }
    if (rank >= 0) MPI_Win_fence(0, window);
    else MPI_Win_free(&window);
}

/* Returns how often rank 1 sleeps while it waits for rank 0, which is 30 ms late. */
static unsigned long long sleeps_in(void (*wait_for)(MPI_Comm, int), MPI_Comm comm, int rank) {
    wait_for(comm, rank);
    unsigned long long const before = read_counter(sleeps);
    if (rank == 0) usleep(30000);
    wait_for(comm, rank);
    return read_counter(sleeps) - before;
}

/* Returns whether rank 1 sleeps while it waits for rank 0. Repeats the wait if it does not: beside other load, rank 1
 * may itself be late. All ranks return the same. */
static int sleeps_at_last_in(void (*wait_for)(MPI_Comm, int), MPI_Comm comm, int rank) {
    int slept = 0;
    for (int attempt = 0; attempt < 10 && !slept; ++attempt) {
        slept = sleeps_in(wait_for, comm, rank) != 0;
        MPI_Bcast(&slept, 1, MPI_INT, 1, MPI_COMM_WORLD);
    }
    return slept;
}

static MPI_Comm with_policy(char const *policy) {
    MPI_Info info;
    MPI_Comm comm;
    MPI_Info_create(&info);
    MPI_Info_set(info, "tutti_wait", policy);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

int main(int argc, char **argv) {
    void (*const ways[])(MPI_Comm, int) = {barrier, receive, wait, fence};
    char const *const names[] = {"barrier", "receive", "wait", "fence"};
    int rank;
    MPI_Init(&argc, &argv);
    sleeps = start_counter("tutti_sleeps");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm polls = with_policy("dedicated");
    for (int i = 0; i < 4; ++i) {
        CHECK(sleeps_at_last_in(ways[i], MPI_COMM_WORLD, rank), "%s: the job's ranks do not sleep", names[i]);
        unsigned long long const by_key = sleeps_in(ways[i], polls, rank);
        if (rank == 0) continue;
        CHECK(by_key == 0, "%s: slept %llu times where tutti_wait is dedicated", names[i], by_key);
    }
    MPI_Comm child;
    MPI_Info change, info;
    MPI_Comm_dup(polls, &child);
    CHECK(sleeps_at_last_in(barrier, child, rank), "a duplicate inherits the key");   // MPI 4.0, 7.4.2
    MPI_Comm_free(&child);
    MPI_Comm_get_info(polls, &info);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &child);
    MPI_Info_free(&info);
    CHECK(sleeps_in(barrier, child, rank) == 0 || rank == 0, "MPI_Comm_dup_with_info changes nothing");
    MPI_Info_create(&change);
    MPI_Info_set(change, "tutti_wait", "auto");
    MPI_Comm_set_info(child, change);
    MPI_Info_free(&change);
    CHECK(sleeps_at_last_in(barrier, child, rank), "MPI_Comm_set_info changes nothing");
    char value[16] = "";
    int found = 0;
    MPI_Comm_get_info(child, &info);
    MPI_Info_get(info, "tutti_wait", sizeof value - 1, value, &found);
    CHECK(found && strcmp(value, "auto") == 0, "MPI_Comm_get_info returned '%s'", value);
    MPI_Info_free(&info);
    fence(polls, -1);
    MPI_Comm_free(&child);
    MPI_Comm_free(&polls);
    stop_counter(sleeps);
    MPI_Finalize();
    return 0;
}
