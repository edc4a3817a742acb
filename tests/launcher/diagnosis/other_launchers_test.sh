#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Under Open MPI's mpirun, and without a launcher, errors, warnings and early ends of a rank are reported as by our
# mpiexec: the same code, lines, locations and help, once for all ranks of the node. Under Slurm:
# tests/cluster/slurm_test.sh.
. "$(dirname "$0")/../common.sh" "$1"
mpirun=$(command -v mpirun.openmpi)

cat >"$folder/wrong.c" <<'END'
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int x, rank, size;

static int is(char const *how, char const *name) { return strcmp(how, name) == 0; }

/* The last rank returns when all others sleep in MPI_Barrier. */
static void others_wait(void)
{
    int pids[64], pid = getpid();
    MPI_Gather(&pid, 1, MPI_INT, pids, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    for (int other = 0; rank == size - 1 && other < size - 1; ++other) {
        char name[32], state = 0;
        snprintf(name, sizeof name, "/proc/%d/stat", pids[other]);
        for (int seen = 0; seen < 20; usleep(10000)) {
            FILE *file = fopen(name, "r");
            if (!file || fscanf(file, "%*d %*s %c", &state) != 1)
                _exit(1);
            fclose(file);
            seen = state == 'S' ? seen + 1 : 0;
        }
    }
}

static pthread_barrier_t barrier;
static void *send_wrong(void *unused)
{
    pthread_barrier_wait(&barrier);
    MPI_Send(&x, 1, MPI_INT, size, 8, MPI_COMM_WORLD);
    return unused;
}
static void send_in_threads(void)
{
    pthread_t threads[4];
    pthread_barrier_init(&barrier, NULL, 4);
    for (int i = 0; i < 4; ++i)
        pthread_create(&threads[i], NULL, send_wrong, NULL);
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    int level;
    char const *how = argv[1];
    MPI_Request request;
    if (is(how, "before"))
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Init_thread(&argc, &argv, is(how, "threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);   /* all have left MPI_Init */
    if (is(how, "error"))
        MPI_Send(&x, 1, MPI_INT, size, 8, MPI_COMM_WORLD);
    if (is(how, "threads"))
        send_in_threads();
    if (is(how, "first") && rank == 0)
        MPI_Send(&x, 1, MPI_INT, size, 8, MPI_COMM_WORLD);
    if (is(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (is(how, "request"))
        MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &request);
    if (is(how, "root"))
        MPI_Bcast(&x, 1, MPI_INT, rank == size - 1, MPI_COMM_WORLD);
    if (is(how, "polls")) {   /* for a message to itself that it never sends */
        MPI_Irecv(&x, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &request);
        for (int done = 0; !done;)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    if (is(how, "deadlock"))
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is(how, "exit") || is(how, "crash") || is(how, "assertion"))
        others_wait();
    if (is(how, "exit") && rank == size - 1)
        exit(3);
    if (is(how, "exits"))
        exit(3);
    if (is(how, "crashes") || (is(how, "crash") && rank == size - 1))
        *(int volatile *)8 = 1;
    if (is(how, "assertion") && rank == size - 1)
        abort();
    if (is(how, "after")) {
        MPI_Finalize();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (!is(how, "request"))
        MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
END
"$build/bin/mpicc" -g "$folder/wrong.c" -o "$folder/wrong" -lpthread || exit 1

# Prints the reports in standard error without parts that differ between runs: processes, the number of ranks that have
# made the error before the job ends, and the rank whose call is compared with the differing one.
reports() {
    local any_ranks='s/^  ranks? [0-9, and-]+  /  some ranks  /'
    case $how in
    error | threads | abort | after | before | exits) ;;
    crashes) any_ranks="$any_ranks; s/ranks? [0-9, and-]+ w(as|ere) killed/some ranks were killed/; /^  note: .*process/d" ;;
    root) any_ranks='s/rank [012] /one of ranks 0 to 2 /' ;;
    *) any_ranks= ;;
    esac
    sed -n '/^\(error\|warning\)\[/,/^  For details/p' "$folder/err" | sed -E "s/process [0-9]+ on/process N on/; $any_ranks"
}
# other COMMAND...: sets $code and $reported
other() {
    timeout -k 5 "$limit_s" "$@" >"$folder/out" 2>"$folder/err" </dev/null
    code=$? reported=$(reports) what=$*
}
# same HOW: compares four ranks under both launchers, and one without a launcher.
same() {
    run -n 4 "$folder/wrong" "$1"; expected=$(reports)
    [ -n "$expected" ] || wrong "$what reported nothing: $err"
    [ -n "$mpirun" ] || return
    other "$mpirun" --allow-run-as-root --oversubscribe -n 4 "$folder/wrong" "$1"
    expect_reported
    [ "$1" = request ] && expect_code 0 || [ "$code" != 0 ] || wrong "$what ended with 0"
}
same_alone() {
    run -n 1 "$folder/wrong" "$1"; expected=$(reports) code_here=$code
    other "$folder/wrong" "$1"; expect_code "$code_here"
    expect_reported
}
expect_reported() { [ "$reported" = "$expected" ] || wrong "$what reported '$reported' instead of '$expected': $(cat "$folder/err")"; }

for how in error threads first abort request root deadlock before after exit exits crash crashes assertion; do same $how; done
for how in error threads abort request deadlock before after crashes; do same_alone $how; done
# A rank that polls without progress is reported while it continues, unless warnings are disabled.
: >"$folder/err"
TUTTI_POLLING_LIMIT=1 "$folder/wrong" polls >"$folder/out" 2>"$folder/err" </dev/null & pid=$!
wait_until grep -q 'For details, run: mpiexec' "$folder/err"; kill $pid; wait $pid 2>/dev/null
[[ "$(reports)" == "warning[T19] no rank has made progress for 1 s: rank 0 polls without progress"* ]] || wrong "of polling: $(cat "$folder/err")"
limit_s=6 other env TUTTI_POLLING_LIMIT=1 TUTTI_QUIET=yes "$folder/wrong" polls; expect_code 124
[ -z "$reported" ] || wrong "$what reported '$reported' although warnings are disabled"
[ -n "$mpirun" ] || skip "package openmpi-bin is not installed"

# The reporting program is searched beside the library: without it the report is shorter, and still printed once.
mkdir "$folder/lib" && cp "$build"/lib/libmpi.so.12 "$folder/lib/"
for how in error request; do
    other "$mpirun" --allow-run-as-root --oversubscribe -x LD_LIBRARY_PATH="$folder/lib" -n 4 "$folder/wrong" $how
    [ "$(grep -c '^\(error\|warning\)\[' <<<"$reported")" = 1 ] || wrong "$what ended with $code and reported '$reported' instead of one error: $(cat "$folder/err")"
done
# If reports are disabled, errors are reported without the watchdog process.
other env TUTTI_DIAGNOSIS=no "$folder/wrong" error; [[ "$reported" == "error[MPI_ERR_RANK] MPI_Send: dest is 1"* ]] || wrong "$what: $reported"
expect_nothing_left
finish
