/* SPDX-License-Identifier: BSD-3-Clause */
/* Children of ranks: a child that makes an MPI communication call is ended with a message, and its parent is not
 * affected. Inquiry calls report MPI as finalized in a child. Children that execute another program work normally. */
// ranks: 1 2 4
// run arena_off: 1 2 4 TUTTI_ARENA=no
// run threads: 1 2 4 threads
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ranks/check.h"

enum { elements = 1 << 17, report_room = 1000 };

static int me, size;
static char report[report_room];

/* Runs `body` in a child and stores its stderr in `report`. Returns the exit code, or −1 if a signal ended the
 * child. */
static int in_child(void (*body)(void)) {
    int ends[2], status = 0, length = 0, n;
    CHECK(pipe(ends) == 0, "%s", "pipe");
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        body();
        _exit(77);
    }
    close(ends[1]);
    while ((n = (int)read(ends[0], report + length, (size_t)(report_room - 1 - length))) > 0) length += n;
    report[length] = '\0';
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child, "%s", "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void finalize(void) { MPI_Finalize(); }
static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void send(void) { MPI_Send(&me, 1, MPI_INT, (me + 1) % size, 99, MPI_COMM_WORLD); }
static void abort_all(void) { MPI_Abort(MPI_COMM_WORLD, 3); }
static void init(void) { MPI_Init(NULL, NULL); }
static void bad_string(void) { MPI_Error_string(0, NULL, NULL); }
static void nested(void) {
    pid_t child = fork();
    if (child == 0) MPI_Finalize();
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) && WEXITSTATUS(status) == MPI_ERR_OTHER ? 5 : 6);
}
static void inquiries(void) {
    int running = 0, over = 0, version = 0, subversion = 0;
    double const now = MPI_Wtime();
    MPI_Initialized(&running);
    MPI_Finalized(&over);
    MPI_Get_version(&version, &subversion);
    if (running && !over) MPI_Finalize();
    _exit(running && over && version == MPI_VERSION && now > 0 ? 8 : 9);
}
static void leaves_by_exit(void) { exit(4); }

/* Each parent has a message exchange in progress while it creates a child. */
static void forbidden(void (*body)(void), const char *name) {
    static double out[elements], in[elements];
    MPI_Request requests[2];
    for (int i = 0; i < elements; ++i) out[i] = me + i;
    MPI_Irecv(in, elements, MPI_DOUBLE, (me + size - 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, elements, MPI_DOUBLE, (me + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
    int const code = in_child(body);
    CHECK(code != 77 && code > 0, "%s: the child ended with %d", name, code);
    CHECK(strstr(report, name) && strstr(report, "child of rank"), "%s: '%s'", name, report);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < elements; ++i) CHECK(in[i] == (me + size - 1) % size + i, "element %d is %g", i, in[i]);
    int sum = 0, one = 1, flag = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size, "%s: %d ranks took part", name, sum);
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "%s: the child has sent a message", name);
}

static void other_programs(void) {
    char line[20] = "";
    CHECK(system("exit 3") >> 8 == 3, "%s", "system");
    FILE *pipe = popen("echo well", "r");
    CHECK(pipe && fgets(line, sizeof line, pipe) && !strcmp(line, "well\n"), "popen: '%s'", line);
    CHECK(pclose(pipe) == 0, "%s", "pclose");
    pid_t child = fork();
    int status = 0;
    if (child == 0) execl("/bin/sh", "sh", "-c", "exit 6", NULL);
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 6, "exec: %d", status);
}

int main(int argc, char **argv) {
    int provided, code;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    forbidden(finalize, "MPI_Finalize");
    forbidden(barrier, "MPI_Barrier");
    forbidden(send, "MPI_Send");
    forbidden(abort_all, "MPI_Abort");
    forbidden(init, "MPI_Init");
    forbidden(bad_string, "MPI_Error_string");
    CHECK((code = in_child(nested)) == 5 && strstr(report, "MPI_Finalize"), "a grandchild: %d '%s'", code, report);
    CHECK((code = in_child(inquiries)) == 8 && !*report, "inquiries: %d '%s'", code, report);
    CHECK((code = in_child(leaves_by_exit)) == 4 && !*report, "exit: %d '%s'", code, report);
    other_programs();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
