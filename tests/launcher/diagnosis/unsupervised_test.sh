#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A deadlock of a rank without a launcher is reported by a watchdog process, which the rank starts and which ends by
# itself.
# Under Slurm and mpirun: tests/cluster.
. "$(dirname "$0")/../common.sh" "$1"

cat >"$folder/alone.c" <<'END'
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int x;

static void *send_late(void *unused)
{
    sleep(1);
    MPI_Send(&x, 1, MPI_INT, 0, 8, MPI_COMM_SELF);
    return unused;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t other;
    if (strcmp(argv[1], "child") == 0 && fork() == 0)
        _exit(0);
    MPI_Init_thread(&argc, &argv, strcmp(argv[1], "thread") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
    if (strcmp(argv[1], "thread") == 0)
        pthread_create(&other, NULL, send_late, NULL);
    if (strcmp(argv[1], "types") == 0) {
        float y;
        MPI_Request request;
        MPI_Isend(&x, 1, MPI_INT, 0, 8, MPI_COMM_SELF, &request);
        MPI_Recv(&y, 1, MPI_FLOAT, 0, 8, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return MPI_Finalize();
    }
    MPI_Recv(&x, 1, MPI_INT, 0, 8, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "thread") == 0)
        pthread_join(other, NULL);
    printf("the program has %s children\n", wait(NULL) < 0 ? "no" : "strange");
    return MPI_Finalize();
}
END
"$build/bin/mpicc" -g "$folder/alone.c" -o "$folder/alone" -lpthread || exit 1

# alone ENVIRONMENT… -- HOW: runs the program without a launcher; sets $code, $out, $err
alone() {
    local variables=()
    while [ "$1" != -- ]; do variables+=("$1"); shift; done
    out=$(timeout "${most_s:-$limit_s}" ${alone:-env} "${variables[@]}" "$folder/alone" "$2" 2>"$folder/err" </dev/null)
    code=$? err=$(cat "$folder/err") what="alone $2"
}
report="error[T01] deadlock: rank 0 waits for itself
  rank 0  MPI_Recv(1 MPI_INT from rank 0, tag 8, MPI_COMM_SELF)  alone.c:$(grep -n "MPI_Recv(&x" "$folder/alone.c" | cut -d: -f1) in main()"

alone -- receive; expect_code 125; expect_err "$report"
alone -- child; expect_code 125; expect_err "$report"
# An error that the rank itself detects is reported by that process, once and with its location, also if the program and
# its parent ignore SIGCHLD.
for start in "env" "env --ignore-signal=CHLD"; do
    alone="$start" alone TUTTI_DIAGNOSIS=full -- types; expect_code 125
    [ "$(grep -c '^error' <<<"$err")" = 1 ] && [[ "$err" == *alone.c:*"in main()"* ]] || wrong "$start: $what printed '$err'"
done
most_s=3 alone TUTTI_DIAGNOSIS=no -- receive; expect_code 124; expect_silence
alone -- thread; expect_code 0; expect_silence; expect_out "the program has no children"

# The watchdog program is searched beside the library: without it nothing is reported, and the program runs as usual.
mkdir "$folder/lib" && cp "$build"/lib/libmpi.so.12 "$folder/lib/"
most_s=3 alone LD_LIBRARY_PATH="$folder/lib" -- receive; expect_code 124; expect_silence
expect_nothing_left
finish
