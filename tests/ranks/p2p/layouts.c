// SPDX-License-Identifier: BSD-3-Clause
// Derived and contiguous datatypes on either side, in sizes of each protocol.
// ranks: 2
// run staged: 2 TUTTI_CMA=no
#include "tests/ranks/check.h"

enum { most = 40000 };
static double in[2 * most], out[2 * most];

static void check_pair(int me, int n, MPI_Datatype strided, int send_gaps, int recv_gaps) {
    MPI_Request r;
    MPI_Status s;
    int other = 1 - me, count;
    for (int i = 0; i < 2 * n; ++i) in[i] = -1, out[i] = -2;
    for (int i = 0; i < n; ++i) out[send_gaps ? 2 * i : i] = me * 1e6 + i;
    MPI_Irecv(in, recv_gaps ? 1 : n, recv_gaps ? strided : MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &r);
    MPI_Send(out, send_gaps ? 1 : n, send_gaps ? strided : MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
    MPI_Wait(&r, &s);
    MPI_Get_count(&s, MPI_DOUBLE, &count);
    CHECK(count == n, "%d doubles received, not %d", count, n);
    for (int i = 0; i < n; ++i)
        CHECK(in[recv_gaps ? 2 * i : i] == other * 1e6 + i, "n %d, gaps %d %d: element %d is %g", n, send_gaps,
              recv_gaps, i, in[recv_gaps ? 2 * i : i]);
    for (int i = 0; recv_gaps && i + 1 < n; ++i) CHECK(in[2 * i + 1] == -1, "gap %d became %g", i, in[2 * i + 1]);
}

int main(int argc, char **argv) {
    static const int sizes[] = {1, 3, 5, 200, 3000, most};
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int k = 0; k < 6; ++k) {
        MPI_Datatype strided;
        MPI_Type_vector(sizes[k], 1, 2, MPI_DOUBLE, &strided);
        MPI_Type_commit(&strided);
        for (int pair = 0; pair < 4; ++pair) check_pair(me, sizes[k], strided, pair & 1, pair >> 1);
        // A datatype may be freed while messages with it are in flight.
        MPI_Request r;
        MPI_Irecv(in, 1, strided, 1 - me, 2, MPI_COMM_WORLD, &r);
        MPI_Type_free(&strided);
        MPI_Send(out, sizes[k], MPI_DOUBLE, 1 - me, 2, MPI_COMM_WORLD);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        int last = sizes[k] - 1;   // in the other rank's `out`, which has gaps
        double expected = last % 2 ? -2 : (1 - me) * 1e6 + last / 2;
        CHECK(in[2 * last] == expected, "last of %d is %g, not %g", sizes[k], in[2 * last], expected);
    }
    MPI_Finalize();
    return 0;
}
