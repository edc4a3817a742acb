// SPDX-License-Identifier: BSD-3-Clause
// Runs a command in another scheduling group: enter [OPTION]... -- COMMAND...
//   session       in a new session, like setsid, but without a child, because launchers wait for this process
//   group=DIR     in the control group DIR
//   own-group=DIR in a new control group below DIR, with the PID as its name
//   parent        the command receives SIGTERM when its parent process ends
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail(char const* what) {
    fprintf(stderr, "enter: %s: %s\n", what, strerror(errno));
    exit(126);
}

/// A process group leader cannot create a session, so it joins the group of its parent first. Some launchers (MPICH's)
/// already create a session for each rank.
static void make_session(void) {
    if (getsid(0) == getpid() || setsid() != -1) return;
    if (setpgid(0, getpgid(getppid())) != 0 || setsid() == -1) fail("setsid");
}

static void join(char const* group) {
    char path[4096];
    snprintf(path, sizeof path, "%s/cgroup.procs", group);
    FILE* const processes = fopen(path, "we");
    if (!processes || fprintf(processes, "%d\n", (int)getpid()) < 0 || fclose(processes) != 0) fail(path);
}

static void make_and_join(char const* above) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", above, (int)getpid());
    if (mkdir(path, 0755) != 0 && errno != EEXIST) fail(path);
    join(path);
}

int main(int argc, char** argv) {
    int k = 1;
    for (; k < argc && strcmp(argv[k], "--") != 0; ++k) {
        if (strcmp(argv[k], "session") == 0) make_session();
        else if (strcmp(argv[k], "parent") == 0) prctl(PR_SET_PDEATHSIG, SIGTERM);
        else if (strncmp(argv[k], "group=", 6) == 0) join(argv[k] + 6);
        else if (strncmp(argv[k], "own-group=", 10) == 0) make_and_join(argv[k] + 10);
        else break;
    }
    if (k + 1 >= argc || strcmp(argv[k], "--") != 0) {
        fprintf(stderr, "usage: enter [session] [parent] [group=DIR] [own-group=DIR] -- COMMAND...\n");
        return 2;
    }
    execvp(argv[k + 1], argv + k + 1);
    fail(argv[k + 1]);
}
