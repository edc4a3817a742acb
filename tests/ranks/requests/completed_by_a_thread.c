// SPDX-License-Identifier: BSD-3-Clause
// A thread of the program completes generalized requests while another thread waits for them asleep.
// ranks: 1 2
// env: TUTTI_SLEEP_AFTER=1
#include "tests/ranks/check.h"

#include <pthread.h>
#include <unistd.h>

enum { waits = 5 };

static MPI_Request requests[3];

static int query(void *extra_state, MPI_Status *status) {
    MPI_Status_set_elements(status, MPI_BYTE, *(int *)extra_state);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *extra_state) { return ++*(int *)extra_state, MPI_SUCCESS; }

static int cancel(void *extra_state, int complete) { return (void)extra_state, (void)complete, MPI_SUCCESS; }

static void *complete(void *which) {
    usleep(50000);   // long enough for the other thread to be asleep
    MPI_Request r = requests[*(int *)which];
    MPI_Grequest_complete(r);
    return NULL;
}

int main(int argc, char **argv) {
    int provided, value[3], which = 1, index = -1, flag = 0, count = 0, indices[3];
    MPI_Status s[3];
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE, "provided is %d", provided);
    for (int call = 0; call < waits; ++call) {
        for (int i = 0; i < 3; ++i) {
            value[i] = 10 * i;
            MPI_Grequest_start(query, release, cancel, &value[i], &requests[i]);
        }
        MPI_Request copy[3] = {requests[0], requests[1], requests[2]};
        pthread_create(&thread, NULL, complete, &which);
        switch (call) {
            case 0: MPI_Wait(&copy[1], s); break;
            case 1: MPI_Waitall(1, copy + 1, s); break;
            case 2: MPI_Waitany(3, copy, &index, s); break;
            case 3: MPI_Waitsome(3, copy, &count, indices, s); break;
            default: while (!flag) MPI_Testany(3, copy, &index, &flag, s);
        }
        pthread_join(thread, NULL);
        MPI_Get_count(s, MPI_BYTE, &count);
        CHECK(count == 10 && value[1] == 11, "call %d: count %d, free_fn left %d", call, count, value[1]);
        CHECK(copy[1] == MPI_REQUEST_NULL && copy[0] == requests[0], "call %d: 0x%x", call, copy[1]);
        MPI_Grequest_complete(copy[0]);
        MPI_Grequest_complete(copy[2]);
        MPI_Waitall(3, copy, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
