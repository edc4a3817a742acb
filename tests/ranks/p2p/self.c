// SPDX-License-Identifier: BSD-3-Clause
// Messages of a rank to itself and to MPI_PROC_NULL.
// ranks: 1 2
#include "tests/ranks/check.h"

static int out[50000], in[50000];

int main(int argc, char **argv) {
    static const int sizes[] = {0, 1, 100, 50000};
    MPI_Request r[2];
    MPI_Status s;
    int me, count;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < 50000; ++i) out[i] = i + me;
    for (int k = 0; k < 4; ++k) {
        int n = sizes[k];
        in[0] = in[n > 0 ? n - 1 : 0] = -1;
        MPI_Isend(out, n, MPI_INT, 0, 3, MPI_COMM_SELF, &r[0]);
        MPI_Recv(in, n, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &s);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Get_count(&s, MPI_INT, &count);
        CHECK(count == n && s.MPI_SOURCE == 0 && s.MPI_TAG == 3, "count %d source %d tag %d", count, s.MPI_SOURCE,
              s.MPI_TAG);
        CHECK(n == 0 || in[n - 1] == n - 1 + me, "last of %d is %d", n, in[n - 1]);
        MPI_Irecv(in, n, MPI_INT, me, 4, MPI_COMM_WORLD, &r[0]);
        MPI_Issend(out, n, MPI_INT, me, 4, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Sendrecv(out, n, MPI_INT, me, 5, in, n, MPI_INT, me, 5, MPI_COMM_WORLD, &s);
        CHECK(s.MPI_TAG == 5, "tag %d", s.MPI_TAG);
        MPI_Sendrecv_replace(in, n, MPI_INT, me, 6, me, 6, MPI_COMM_WORLD, &s);
        CHECK(n == 0 || in[n - 1] == n - 1 + me, "last of %d is %d after replacing", n, in[n - 1]);
    }
    in[0] = -7;
    MPI_Send(out, 5, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Recv(in, 5, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, MPI_INT, &count);
    CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && count == 0 && in[0] == -7,
          "from MPI_PROC_NULL: source %d tag %d count %d", s.MPI_SOURCE, s.MPI_TAG, count);
    MPI_Recv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &s);
    MPI_Send(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Isend(out, 5, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(in, 5, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
