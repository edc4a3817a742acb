// SPDX-License-Identifier: BSD-3-Clause
// Four ranks, two on each node, wait for each other in a way selected by the argument, with or without a deadlock;
// eight ranks for "finalize". Lines that a report must name are marked HERE.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, value;
static char* large;
enum { bytes = 6 << 20 };

static void receive(int from, int tag) {
    MPI_Recv(&value, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE
}
static void send_to(int to, int tag) { MPI_Send(&value, 1, MPI_INT, to, tag, MPI_COMM_WORLD); }

// A child process continues this process a little later.
static void stop_for(double seconds) {
    pid_t self = getpid();
    if (fork() == 0) {
        usleep((useconds_t)(seconds * 1e6));
        kill(self, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}

static void deadlock(const char* how) {
    int across = rank ^ 2;
    if (strcmp(how, "heads") == 0 && rank % 2 == 0) receive(across, 1);
    if (strcmp(how, "ring") == 0) receive((rank + 3) % 4, 1);
    if (strcmp(how, "tag") == 0 && rank % 2 == 0) {
        if (rank == 0) send_to(2, 7);
        receive(across, 8);
    }
    if (strcmp(how, "sends") == 0 && rank % 2 == 0) {
        MPI_Send(large, bytes, MPI_CHAR, across, 1, MPI_COMM_WORLD);
        MPI_Recv(large, bytes, MPI_CHAR, across, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(how, "ended") == 0 && rank == 0) receive(3, 1);
    if (strcmp(how, "roots") == 0) MPI_Bcast(&value, 1, MPI_INT, rank % 2, MPI_COMM_WORLD);
    if (strcmp(how, "stopped") == 0 && rank % 2 == 0) {
        if (rank == 2) stop_for(1);
        receive(across, 1);
    }
    // Ranks 1 and 3 send messages for which no rank waits.
    if (strcmp(how, "chatter") == 0) {
        if (rank % 2 == 0) receive(across, 1);
        for (int i = 0; i < 100000; ++i) {
            send_to((rank + 1) % 4, 2);
            usleep(20000);
        }
    }
    if (strcmp(how, "collectives") == 0) {
        MPI_Comm other;
        MPI_Comm_dup(MPI_COMM_WORLD, &other);
        if (rank < 2) MPI_Barrier(other);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank >= 2) MPI_Barrier(other);
    }
}

static void wait_without_deadlock(const char* how) {
    int across = rank ^ 2;
    if (strcmp(how, "late") == 0) {
        if (rank == 2) sleep(1);
        if (rank == 2) stop_for(0.5);
        MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % 4, 1, (rank + 3) % 4, 1, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        receive(MPI_PROC_NULL, 1);
    }
    // Large messages in both directions, while both ranks only wait for them.
    if (strcmp(how, "large") == 0) {
        MPI_Request request;
        char* in = malloc(bytes);
        for (int i = 0; i < 3; ++i) {
            MPI_Isend(large, bytes, MPI_CHAR, across, i, MPI_COMM_WORLD, &request);
            MPI_Recv(in, bytes, MPI_CHAR, across, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        free(in);
    }
    // Each rank of a circle waits for the next one, and meanwhile its large message to the previous one progresses.
    if (strcmp(how, "circle") == 0) {
        MPI_Request request;
        MPI_Isend(large, bytes, MPI_CHAR, (rank + 1) % 4, 1, MPI_COMM_WORLD, &request);
        if (rank == 0) usleep(300000), send_to(3, 2);
        receive((rank + 1) % 4, 2);
        if (rank != 0) send_to(rank - 1, 2);
        MPI_Recv(large, bytes, MPI_CHAR, (rank + 3) % 4, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    // One message at a time circulates slowly: nearly always all ranks wait, mostly for a message in flight.
    if (strcmp(how, "round") == 0) {
        for (int i = 0; i < 40; ++i) {
            if (rank == 0) send_to(1, i);
            receive((rank + 3) % 4, i);
            usleep(rank == i % 4 ? 60000 : 0);
            if (rank != 0) send_to((rank + 1) % 4, i);
        }
    }
}

// Ranks on nodes with odd numbers never call MPI_Finalize, so it may wait for them on the other ranks.
static void never_finalize(void) {
    if (rank % 4 >= 2)
        for (;;) pause();
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* how = argc > 1 ? argv[1] : "";
    large = calloc(1, bytes);
    deadlock(how);
    wait_without_deadlock(how);
    if (strcmp(how, "finalize") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        puts("here");
        fflush(stdout);
        never_finalize();
    }
    MPI_Finalize();
    free(large);
    return 0;
}
