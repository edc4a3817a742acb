/* SPDX-License-Identifier: BSD-3-Clause */
/* The most memory that this process ever had resident, in KiB. */
#ifndef TUTTI_TESTS_PEAK_H
#define TUTTI_TESTS_PEAK_H
#include <sys/resource.h>

static long peak_kib(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}
#endif
