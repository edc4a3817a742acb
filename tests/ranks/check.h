/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks for the programs in this folder. CHECK(condition, "value %d", value) reports a false condition with file and
 * line, and ends the job. FAILS(MPI_ERR_COUNT, MPI_Send(...)) checks the error class that a call returns. */
#ifndef TUTTI_TESTS_CHECK_H
#define TUTTI_TESTS_CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition, ...)                                                  \
    do {                                                                       \
        if (!(condition)) check_failed(__FILE__, __LINE__, #condition, __VA_ARGS__); \
    } while (0)

#define FAILS(expected, call)                                                                            \
    do {                                                                                                 \
        int check_class = MPI_SUCCESS;                                                                   \
        MPI_Error_class(call, &check_class);                                                             \
        CHECK(check_class == (expected), #call " gave class %d instead of " #expected, check_class);     \
    } while (0)

static inline void check_failed(const char *file, int line, const char *condition, const char *format, ...) {
    int rank = -1, running = 0, ended = 0;
    MPI_Initialized(&running);
    MPI_Finalized(&ended);
    running = running && !ended;
    if (running) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "%s:%d: rank %d: check failed: %s: ", file, line, rank, condition);
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    if (running) MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

#endif
