// SPDX-License-Identifier: BSD-3-Clause
// Wait and Test for one, any, some and all requests; null and inactive requests; statuses and MPI_ERR_IN_STATUS.
// ranks: 2 4
#include "tests/ranks/check.h"

static int me, ranks;

/// Checks all fields and MPI_ERROR (MPI 3.1, 3.7.3), then overwrites MPI_ERROR for the next call.
static void empty_status(MPI_Status *s, const char *call) {
    int count = -1, cancelled = -1;
    MPI_Get_count(s, MPI_INT, &count);
    MPI_Test_cancelled(s, &cancelled);
    CHECK(s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG && count == 0 && !cancelled,
          "%s: source %d tag %d count %d cancelled %d", call, s->MPI_SOURCE, s->MPI_TAG, count, cancelled);
    CHECK(s->MPI_ERROR == MPI_SUCCESS, "%s: error %d", call, s->MPI_ERROR);
    s->MPI_ERROR = MPI_ERR_OTHER;
}

static void nothing_to_wait_for(void) {
    MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[3];
    int flag = 0, index = 0, count = 0, indices[3], x;
    MPI_Recv_init(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r[1]);   // inactive requests are ignored
    s->MPI_ERROR = MPI_ERR_OTHER;
    MPI_Wait(&r[0], s), empty_status(s, "Wait null");
    MPI_Wait(&r[1], s), empty_status(s, "Wait inactive");
    MPI_Test(&r[1], &flag, s), empty_status(s, "Test");
    CHECK(flag, "Test of an inactive request gave %d", flag);
    MPI_Waitany(3, r, &index, s), empty_status(s, "Waitany");
    CHECK(index == MPI_UNDEFINED, "Waitany gave index %d", index);
    flag = 0, index = 0;
    MPI_Testany(3, r, &index, &flag, s), empty_status(s, "Testany");
    CHECK(flag && index == MPI_UNDEFINED, "Testany gave flag %d index %d", flag, index);
    MPI_Waitsome(3, r, &count, indices, s);
    CHECK(count == MPI_UNDEFINED, "Waitsome gave %d", count);
    MPI_Testsome(3, r, &count, indices, s);
    CHECK(count == MPI_UNDEFINED, "Testsome gave %d", count);
    MPI_Waitall(3, r, s);
    for (int i = 0; i < 3; ++i) empty_status(&s[i], "Waitall");
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    flag = 0;
    MPI_Request_get_status(MPI_REQUEST_NULL, &flag, s), empty_status(s, "Request_get_status");
    CHECK(flag, "Request_get_status gave %d", flag);
    MPI_Request_get_status_any(3, r, &index, &flag, s), empty_status(s, "Request_get_status_any");
    MPI_Request_free(&r[1]);
    CHECK(r[1] == MPI_REQUEST_NULL, "freed request is 0x%x", r[1]);
}

/// Rank 0 posts receives from all ranks; the others send on request, so that the order of completion is known.
static void in_a_known_order(void) {
    int go = 1;
    if (me != 0) {
        MPI_Recv(&go, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&me, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        MPI_Recv(&go, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&me, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        return;
    }
    int value[8], index, flag, count, indices[8];
    MPI_Request r[8];
    MPI_Status s[8];
    r[0] = MPI_REQUEST_NULL;
    for (int i = 1; i < ranks; ++i) MPI_Irecv(&value[i], 1, MPI_INT, i, 2, MPI_COMM_WORLD, &r[i]);
    MPI_Testany(ranks, r, &index, &flag, s);
    CHECK(!flag && index == MPI_UNDEFINED, "Testany before anything was sent: flag %d index %d", flag, index);
    MPI_Testall(ranks, r, &flag, s);
    CHECK(!flag, "Testall before anything was sent: %d", flag);
    MPI_Testsome(ranks, r, &count, indices, s);
    CHECK(count == 0, "Testsome before anything was sent: %d", count);
    for (int i = ranks - 1; i >= 1; --i) {
        MPI_Send(&go, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
        MPI_Waitany(ranks, r, &index, s);
        CHECK(index == i && value[i] == i && s->MPI_SOURCE == i, "Waitany: index %d, not %d", index, i);
        CHECK(r[i] == MPI_REQUEST_NULL, "completed request is 0x%x", r[i]);
    }
    for (int i = 1; i < ranks; ++i) MPI_Irecv(&value[i], 1, MPI_INT, i, 2, MPI_COMM_WORLD, &r[i]);
    for (int i = 1; i < ranks; ++i) MPI_Send(&go, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
    for (flag = 0; !flag;) MPI_Request_get_status(r[1], &flag, s);
    CHECK(r[1] != MPI_REQUEST_NULL && s->MPI_SOURCE == 1, "Request_get_status: source %d", s->MPI_SOURCE);
    for (int done = 0; done < ranks - 1; done += count) {
        MPI_Waitsome(ranks, r, &count, indices, s);
        CHECK(count >= 1, "Waitsome gave %d", count);
        for (int i = 0; i < count; ++i)
            CHECK(s[i].MPI_SOURCE == indices[i] && value[indices[i]] == indices[i], "Waitsome: index %d from %d",
                  indices[i], s[i].MPI_SOURCE);
    }
}

static void errors_of_several(void) {
    int value[4] = {1, 2, 3, 4}, out[2] = {1, 2}, flag = 0, class = -1, other = me ^ 1;
    MPI_Request r[2];
    MPI_Status s[2];
    if (other >= ranks) return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int test = 0; test < 2; ++test) {
        MPI_Irecv(value, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(value + 2, 1, MPI_INT, other, 6, MPI_COMM_WORLD, &r[1]);
        MPI_Send(out, 2, MPI_INT, other, 5, MPI_COMM_WORLD);
        MPI_Send(out, 1, MPI_INT, other, 6, MPI_COMM_WORLD);
        int code;
        if (test)
            do code = MPI_Testall(2, r, &flag, s);
            while (code == MPI_SUCCESS && !flag);
        else
            code = MPI_Waitall(2, r, s);
        MPI_Error_class(code, &class);
        CHECK(class == MPI_ERR_IN_STATUS && code == class, "class %d of code %d", class, code);
        MPI_Error_class(s[0].MPI_ERROR, &class);
        CHECK(class == MPI_ERR_TRUNCATE, "first status has class %d", class);
        CHECK(s[1].MPI_ERROR == MPI_SUCCESS, "second status has %d", s[1].MPI_ERROR);
        CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL, "requests are left: 0x%x 0x%x", r[0], r[1]);
    }
    int count = 0, indices[2];
    MPI_Irecv(value, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &r[0]);
    r[1] = MPI_REQUEST_NULL;
    MPI_Send(out, 2, MPI_INT, other, 5, MPI_COMM_WORLD);
    MPI_Error_class(MPI_Waitsome(2, r, &count, indices, s), &class);
    CHECK(class == MPI_ERR_IN_STATUS && count == 1 && indices[0] == 0, "Waitsome: class %d count %d", class, count);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    nothing_to_wait_for();
    in_a_known_order();
    errors_of_several();
    MPI_Finalize();
    return 0;
}
