/* SPDX-License-Identifier: BSD-3-Clause */
/* For the thread tests: start with MPI_THREAD_MULTIPLE, run a function in many threads, and random numbers. */
#ifndef TUTTI_TESTS_THREADS_H
#define TUTTI_TESTS_THREADS_H

#include <pthread.h>

#include "tests/ranks/check.h"

enum { max_threads = 16 };

static int me, size;   /* in MPI_COMM_WORLD */

static inline void start(int *argc, char ***argv) {
    int provided = -1;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE, "provided %d", provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

typedef struct {
    int thread;
    void (*body)(int thread);
} Job;

static inline void *run_job(void *job) {
    ((Job *)job)->body(((Job *)job)->thread);
    return NULL;
}

/* Runs `body(0)` … `body(n - 1)` in separate threads and waits for them. */
static inline void run_in_threads(int n, void (*body)(int thread)) {
    pthread_t threads[max_threads];
    Job jobs[max_threads];
    for (int i = 0; i < n; ++i) {
        jobs[i] = (Job){i, body};
        CHECK(pthread_create(&threads[i], NULL, run_job, &jobs[i]) == 0, "no thread %d", i);
    }
    for (int i = 0; i < n; ++i) pthread_join(threads[i], NULL);
}

/* The next number below `limit` of a sequence that depends only on its seed. */
static inline unsigned next_random(unsigned *seed, unsigned limit) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % limit;
}

/* Numbers that identify their message. */
static inline void fill(int *data, int n, int key) {
    for (int i = 0; i < n; ++i) data[i] = key * 7919 + i;
}
static inline void expect(const int *data, int n, int key, const char *what) {
    for (int i = 0; i < n; ++i)
        CHECK(data[i] == key * 7919 + i, "%s: element %d of %d is %d instead of %d", what, i, n, data[i],
              key * 7919 + i);
}

#endif
