// SPDX-License-Identifier: BSD-3-Clause
// Receives from any source match messages from this node and from other nodes in one queue. They receive each rank's
// messages in the order in which it sent them, whether posted before or after, probed or not, small or large.
// ranks: 2 3 4 5 6 8
// may warn: T12
#include <string.h>

#include "tests/ranks/check.h"

enum { rounds = 60, most = 40000 };

static int rank, size;

static int length_of(int from, int turn) { return turn % 11 == 5 ? most - from : 1 + (from * 7 + turn * 13) % 900; }

static void expect(const int *got, MPI_Status *status, int *turns) {
    int n, from = status->MPI_SOURCE, turn = turns[from]++;
    MPI_Get_count(status, MPI_INT, &n);
    CHECK(status->MPI_TAG == turn, "message %d of %d arrived as number %d", status->MPI_TAG, from, turn);
    CHECK(n == length_of(from, turn), "message %d of %d has %d elements", turn, from, n);
    for (int i = 0; i < n; ++i)
        CHECK(got[i] == from * 100000 + turn + i, "element %d of message %d of %d is %d", i, turn, from, got[i]);
}

static void receive_all(int probing) {
    int turns[64] = {0}, *data = malloc(most * sizeof *data);
    for (int left = (size - 1) * rounds; left; --left) {
        MPI_Status status;
        int source = MPI_ANY_SOURCE, tag = MPI_ANY_TAG;
        if (probing) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            source = status.MPI_SOURCE;
            tag = status.MPI_TAG;
        }
        MPI_Recv(data, most, MPI_INT, source, tag, MPI_COMM_WORLD, &status);
        expect(data, &status, turns);
    }
    free(data);
}

static void receive_posted(void) {
    int turns[64] = {0}, count = (size - 1) * rounds, *data = malloc((size_t)count * most * sizeof *data);
    MPI_Request *requests = malloc(count * sizeof *requests);
    for (int i = 0; i < count; ++i)
        MPI_Irecv(data + (size_t)i * most, most, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests + i);
    MPI_Barrier(MPI_COMM_WORLD);
    // The posted order is the matching order, so waiting in that order checks each sender's order.
    for (int i = 0; i < count; ++i) {
        MPI_Status status;
        MPI_Wait(requests + i, &status);
        expect(data + (size_t)i * most, &status, turns);
    }
    free(requests);
    free(data);
}

static void send_all(int to) {
    int *data = malloc(most * sizeof *data);
    for (int turn = 0; turn < rounds; ++turn) {
        int n = length_of(rank, turn);
        for (int i = 0; i < n; ++i) data[i] = rank * 100000 + turn + i;
        if (turn % 4 == 3) MPI_Ssend(data, n, MPI_INT, to, turn, MPI_COMM_WORLD);
        else MPI_Send(data, n, MPI_INT, to, turn, MPI_COMM_WORLD);
    }
    free(data);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int receiver = 0; receiver < size; ++receiver)
        for (int way = 0; way < 3; ++way) {
            if (rank == receiver && way == 2) receive_posted();
            else if (rank == receiver) receive_all(way);
            else {
                if (way == 2) MPI_Barrier(MPI_COMM_WORLD);
                send_all(receiver);
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    MPI_Finalize();
    return 0;
}
