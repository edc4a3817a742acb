// SPDX-License-Identifier: BSD-3-Clause
// Requests of collectives in flight can be neither cancelled nor freed; inactive persistent ones can be freed. Each
// completion call gets them in an array with message requests, generalized requests and null requests.
// ranks: 1 2 4
#include "tests/ranks/check.h"

static int query(void *state, MPI_Status *status) { return (void)state, MPI_Status_set_elements(status, MPI_INT, 3); }
static int release(void *state) { return (void)state, MPI_SUCCESS; }
static int cancel(void *state, int complete) { return (void)state, (void)complete, MPI_SUCCESS; }

static void refused(void) {
    MPI_Request r, persistent;
    MPI_Status s;
    int cancelled = -1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&r));
    FAILS(MPI_ERR_REQUEST, MPI_Request_free(&r));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&r));
    CHECK(MPI_Wait(&r, &s) == MPI_SUCCESS, "the barrier failed%s", "");
    MPI_Test_cancelled(&s, &cancelled);
    CHECK(!cancelled, "the barrier was cancelled%s", "");
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &persistent);
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&persistent));
    MPI_Start(&persistent);
    FAILS(MPI_ERR_REQUEST, MPI_Start(&persistent));
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&persistent));
    FAILS(MPI_ERR_REQUEST, MPI_Request_free(&persistent));
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    CHECK(MPI_Request_free(&persistent) == MPI_SUCCESS && persistent == MPI_REQUEST_NULL, "0x%x", persistent);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

enum { all = 7 };

static int in[2], out[3];

/// A sum, a message to this rank, a generalized request, a null request, an inactive and an active persistent sum.
static void begin(MPI_Request *r, int round) {
    in[0] = round, in[1] = -1;
    MPI_Iallreduce(&in[0], &out[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r[1]);
    MPI_Isend(&in[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r[2]);
    MPI_Grequest_start(query, release, cancel, NULL, &r[3]);
    r[4] = MPI_REQUEST_NULL;
    MPI_Grequest_complete(r[3]);
    MPI_Start(&r[6]);
}

static void ended(int round, int ranks, MPI_Request const *r) {
    CHECK(out[0] == ranks * round && in[1] == round && out[1] == ranks * round, "round %d: %d %d %d", round, out[0],
          in[1], out[1]);
    for (int i = 0; i < 5; ++i) CHECK(r[i] == MPI_REQUEST_NULL, "round %d: request %d is left", round, i);
}

static void beside_others(void) {
    MPI_Request r[all];
    MPI_Status s[all];
    int ranks, flag, index, count, indices[all], done;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Bcast_init(&out[2], 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[5]);
    MPI_Allreduce_init(&in[0], &out[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[6]);
    for (int round = 0; round < 60; ++round) {
        begin(r, round);
        switch (round % 6) {
            case 0: MPI_Waitall(all, r, s); break;
            case 1: do MPI_Testall(all, r, &flag, s); while (!flag); break;
            case 2:
                for (done = 0; done < 5; ++done) {
                    MPI_Waitany(all, r, &index, s);
                    CHECK(index >= 0 && index != 4 && index != 5, "index %d", index);
                }
                MPI_Waitany(all, r, &index, s);
                CHECK(index == MPI_UNDEFINED, "index %d when nothing is left", index);
                break;
            case 3:
                for (done = 0; done < 5; done += flag && index != MPI_UNDEFINED) MPI_Testany(all, r, &index, &flag, s);
                break;
            case 4:
                for (done = 0; done < 5; done += count) MPI_Waitsome(all, r, &count, indices, s);
                break;
            default:
                for (done = 0; done < 5; done += count) MPI_Testsome(all, r, &count, indices, s);
        }
        ended(round, ranks, r);
    }
    MPI_Request_free(&r[5]);
    MPI_Request_free(&r[6]);
}

static void asked_about(void) {
    MPI_Request r;
    MPI_Status s;
    int flag = 0, count = -1;
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    while (!flag) MPI_Request_get_status(r, &flag, &s);
    MPI_Get_count(&s, MPI_BYTE, &count);
    CHECK(count == 0 && r != MPI_REQUEST_NULL, "count %d, request 0x%x", count, r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    refused();
    beside_others();
    asked_about();
    MPI_Finalize();
    return 0;
}
