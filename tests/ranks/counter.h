/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts from now on in one of this rank's MPI_T counters: Counter c = start_counter("tutti_sleeps"); ...
 * read_counter(c). */
#ifndef TUTTI_TESTS_COUNTER_H
#define TUTTI_TESTS_COUNTER_H

#include "tests/ranks/check.h"

typedef struct {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
} Counter;

static inline Counter start_counter(char const *name) {
    Counter c;
    int provided, index, values;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS, "there is no counter %s", name);
    MPI_T_pvar_session_create(&c.session);
    MPI_T_pvar_handle_alloc(c.session, index, NULL, &c.handle, &values);
    CHECK(MPI_T_pvar_start(c.session, c.handle) == MPI_SUCCESS, "%s cannot be started", name);
    return c;
}

static inline unsigned long long read_counter(Counter c) {
    unsigned long long value = 0;
    CHECK(MPI_T_pvar_read(c.session, c.handle, &value) == MPI_SUCCESS, "the counter cannot be read");
    return value;
}

/* Must be called before MPI_Finalize. */
static inline void stop_counter(Counter c) {
    MPI_T_pvar_handle_free(c.session, &c.handle);
    MPI_T_pvar_session_free(&c.session);
    MPI_T_finalize();
}

#endif
