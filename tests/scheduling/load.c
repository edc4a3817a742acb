// SPDX-License-Identifier: BSD-3-Clause
// Other work on the machine: load WORK PAUSE. One thread repeatedly computes for WORK milliseconds and sleeps for PAUSE
// milliseconds; without a pause it never sleeps. Ends with its parent process.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

int main(int argc, char** argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: load WORK PAUSE (in milliseconds)\n");
        return 2;
    }
    double const work = atof(argv[1]), pause = atof(argv[2]);
    long const nanoseconds = (long)(pause * 1e6);
    struct timespec const sleep = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() != 1) {
        for (double const end = now() + work; now() < end;) continue;
        if (nanoseconds > 0) nanosleep(&sleep, NULL);
    }
    return 0;
}
