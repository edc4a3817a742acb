/* SPDX-License-Identifier: BSD-3-Clause */
/* Returns the peak resident memory of this process, in KiB. */
#ifndef TUTTI_TESTS_PEAK_H
#define TUTTI_TESTS_PEAK_H
#include <sys/resource.h>

static long peak_kib(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}
#endif
