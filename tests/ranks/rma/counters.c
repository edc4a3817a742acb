/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_T counters of one-sided operations and bytes, by access method; operations on MPI_PROC_NULL are not counted. */
// ranks: 1 2 4
// nodes: one, so that the access method is known
#include "tests/ranks/check.h"

#include <stdio.h>

static MPI_T_pvar_session session;

static char const *const names[] = {"puts",
                                    "gets",
                                    "accumulates",
                                    "bytes_put_direct",
                                    "bytes_put_cma",
                                    "bytes_put_messages",
                                    "bytes_got_direct",
                                    "bytes_got_cma",
                                    "bytes_got_messages",
                                    "bytes_accumulated_direct",
                                    "bytes_accumulated_cma",
                                    "bytes_accumulated_messages"};
enum { counters = sizeof names / sizeof *names };
static MPI_T_pvar_handle handles[counters];

static void start_all(void) {
    for (int i = 0; i < counters; ++i) {
        char name[100];
        int index = -1, elements;
        snprintf(name, sizeof name, "tutti_rma_%s", names[i]);
        int const var_class = i < 3 ? MPI_T_PVAR_CLASS_COUNTER : MPI_T_PVAR_CLASS_AGGREGATE;
        CHECK(MPI_T_pvar_get_index(name, var_class, &index) == MPI_SUCCESS, "there is no variable %s", name);
        MPI_T_pvar_handle_alloc(session, index, NULL, &handles[i], &elements);
        MPI_T_pvar_start(session, handles[i]);
    }
}

/* Expects this increase of each counter since the last call. */
static void expect(unsigned long long const *grown) {
    for (int i = 0; i < counters; ++i) {
        unsigned long long n = 12345;
        MPI_T_pvar_readreset(session, handles[i], &n);
        CHECK(n == grown[i], "%s: %llu more instead of %llu", names[i], n, grown[i]);
    }
}

int main(int argc, char **argv) {
    int provided, rank, size;
    double *memory, values[100] = {0}, old[100];
    MPI_Win win;
    MPI_Request request;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_T_pvar_session_create(&session);
    MPI_Win_allocate(sizeof values, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int const to = (rank + 1) % size;
    start_all();
    MPI_Win_lock_all(0, win);
    for (int again = 0; again < 3; ++again) {   /* later rounds repeat recent calls */
        MPI_Put(values, 100, MPI_DOUBLE, to, 0, 100, MPI_DOUBLE, win);
        MPI_Win_flush(to, win);   /* orders accesses to the same memory */
        MPI_Rput(values, 2, MPI_DOUBLE, to, 0, 2, MPI_DOUBLE, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Put(values, 100, MPI_DOUBLE, MPI_PROC_NULL, 0, 100, MPI_DOUBLE, win);
        MPI_Put(values, 0, MPI_DOUBLE, to, 0, 0, MPI_DOUBLE, win);
        MPI_Win_flush(to, win);
        expect((unsigned long long[counters]){[0] = 2, [3] = 816});
        MPI_Get(values, 3, MPI_DOUBLE, to, 0, 3, MPI_DOUBLE, win);
        MPI_Win_flush(to, win);
        expect((unsigned long long[counters]){[1] = 1, [6] = 24});
        MPI_Accumulate(values, 4, MPI_DOUBLE, to, 0, 4, MPI_DOUBLE, MPI_SUM, win);
        MPI_Get_accumulate(values, 5, MPI_DOUBLE, old, 5, MPI_DOUBLE, to, 0, 5, MPI_DOUBLE, MPI_SUM, win);
        MPI_Fetch_and_op(values, old, MPI_DOUBLE, to, 0, MPI_SUM, win);
        MPI_Win_flush(to, win);
        MPI_Compare_and_swap(values, values + 1, old, MPI_LONG, to, 0, win);
        MPI_Win_flush(to, win);
        expect((unsigned long long[counters]){[2] = 4, [9] = 88});
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_T_pvar_session_free(&session);
    MPI_Finalize();
    MPI_T_finalize();
    return 0;
}
