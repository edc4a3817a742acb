// SPDX-License-Identifier: BSD-3-Clause
// Probe, Iprobe, Mprobe, Improbe, Mrecv and Imrecv: their statuses, and the messages that they match.
// ranks: 2 5
#include "tests/ranks/check.h"

static int me, ranks;

static void take(int n, int from, const int *data) {
    for (int i = 0; i < n; ++i)
        CHECK(data[i] == from * 1000 + i, "element %d of %d from %d is %d", i, n, from, data[i]);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int n = 100 * me * me * me + me, *data = malloc(sizeof(int) * 20000), count, flag, other;
    MPI_Status s;
    MPI_Message m;
    MPI_Request r;
    if (me != 0) {
        for (int i = 0; i < n; ++i) data[i] = me * 1000 + i;
        for (int round = 0; round < 4; ++round) MPI_Send(data, n, MPI_INT, 0, me, MPI_COMM_WORLD);
    } else {
        for (int i = 1; i < ranks; ++i) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
            other = s.MPI_SOURCE;
            MPI_Get_count(&s, MPI_INT, &count);
            CHECK(s.MPI_TAG == other && count == 100 * other * other * other + other, "from %d: tag %d count %d", other,
                  s.MPI_TAG, count);
            MPI_Recv(data, count, MPI_INT, other, s.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            take(count, other, data);
            do MPI_Iprobe(other, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s);
            while (!flag);
            MPI_Recv(data, count, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            take(count, other, data);
            MPI_Mprobe(other, MPI_ANY_TAG, MPI_COMM_WORLD, &m, &s);
            CHECK(m != MPI_MESSAGE_NULL && m != MPI_MESSAGE_NO_PROC, "message is 0x%x", m);
            MPI_Mrecv(data, count, MPI_INT, &m, &s);
            CHECK(m == MPI_MESSAGE_NULL && s.MPI_SOURCE == other, "message is 0x%x, source %d", m, s.MPI_SOURCE);
            take(count, other, data);
            do MPI_Improbe(other, other, MPI_COMM_WORLD, &flag, &m, &s);
            while (!flag);
            MPI_Imrecv(data, count, MPI_INT, &m, &r);
            MPI_Wait(&r, &s);
            take(count, other, data);
            MPI_Improbe(other, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, &s);
            CHECK(!flag && m == MPI_MESSAGE_NULL, "a fifth message from %d: flag %d", other, flag);
        }
    }
    MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &m, &s);
    CHECK(m == MPI_MESSAGE_NO_PROC && s.MPI_SOURCE == MPI_PROC_NULL, "message is 0x%x, source %d", m, s.MPI_SOURCE);
    MPI_Mrecv(data, 1, MPI_INT, &m, &s);
    MPI_Get_count(&s, MPI_INT, &count);
    CHECK(m == MPI_MESSAGE_NULL && s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && count == 0,
          "source %d tag %d count %d", s.MPI_SOURCE, s.MPI_TAG, count);
    MPI_Finalize();
    return 0;
}
