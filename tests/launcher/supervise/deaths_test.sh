#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Killed ranks are reported once, in one report or message: one or two ranks, on one node and on two, before MPI_Init, in
# MPI and after MPI_Finalize, with and without --check, and with each option that prints more about ends.
. "$(dirname "$0")/../nodes/nodes_common.sh" "$1"

cat >"$folder/dies.c" <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* dies WHEN RANKS: "before", "in" or "after" MPI, the last rank is killed, or the last one of each half. All ranks run
   on this machine: the last one kills both. */
int main(int argc, char** argv) {
    int const rank = atoi(getenv("PMI_RANK")), last = atoi(getenv("PMI_SIZE")) - 1;
    int const other = argv[2][0] == '2' ? last / 2 : last;
    int other_process = getpid(), x = 0;
    if (argv[1][0] == 'b' && rank == last) raise(SIGKILL);
    MPI_Init(&argc, &argv);
    MPI_Bcast(&other_process, 1, MPI_INT, other, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argv[1][0] == 'a') {
        MPI_Finalize();
        if (rank == other || rank == last) raise(SIGKILL);
        return 0;
    }
    if (rank == last) {
        usleep(300000);   /* the others wait */
        kill(other_process, SIGKILL);
        raise(SIGKILL);
    }
    MPI_Recv(&x, 1, MPI_INT, rank < other ? other : last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
END
"$build/bin/mpicc" -g "$folder/dies.c" -o "$folder/dies" || exit 1

# died WHERE OPTIONS...: four ranks on one node or on two. The death is mentioned once.
died() {
    if [ "$1" = one ]; then run -n 4 "${@:2}"
    else on "$two" -n 4 "${@:2}"; fi
    expect_code 137
    [ "$(grep -c "killed by" <<< "$err")" = 1 ] || wrong "$what did not mention the death once: $err"
    [ "$(grep -c "^error\|^{" <<< "$err")" = "$reports" ] || wrong "$what did not print $reports reports: $err"
}

# both_died WHERE OPTIONS...: as died, for two ranks. If this machine is busy, the nodes may notice the deaths more than
# 0.1 s apart, and only the first one is reported.
both_died() {
    for _ in 1 2 3; do
        died "$@"
        [[ "$err" != *"ranks 1 and 3 were killed by signal 9"* ]] || return
    done
    wrong "$what did not report both ranks: $err"
}

for where in one two; do
    reports=0; died $where "$folder/dies" before 1; expect_err "mpiexec: rank 3 on "
    TUTTI_DIAGNOSIS=no died $where "$folder/dies" in 1; expect_err "mpiexec: rank 3 on "
    reports=1
    for check in "" --check; do
        # shellcheck disable=SC2086
        died $where $check "$folder/dies" in 1
        expect_err "error[T09] rank 3 was killed by signal 9"; expect_err "ranks 0-2  MPI_Recv(1 MPI_INT from rank 3,"
        # shellcheck disable=SC2086
        both_died $where $check "$folder/dies" in 2
        expect_err "rank 0  MPI_Recv(1 MPI_INT from rank 1,"; expect_err "rank 2  MPI_Recv(1 MPI_INT from rank 3,"
        # shellcheck disable=SC2086
        died $where $check "$folder/dies" after 1; expect_err "rank 3 was killed by signal 9 (Killed), after MPI_Finalize"
    done
    died $where "$folder/dies" after 2; expect_err ", after MPI_Finalize"
    died $where -v "$folder/dies" in 1; expect_err "error[T09] rank 3"
    died $where --messages json "$folder/dies" in 1; expect_err '"code":"T09"'
    died $where -l "$folder/dies" in 1; expect_err "error[T09] rank 3"
    # the exit codes are a list that the user has requested
    died $where -print-all-exitcodes "$folder/dies" in 1; expect_err "ended with signal 9"
done
# The other ranks continue, and may end by themselves.
reports=1; died one -disable-auto-cleanup "$folder/dies" after 1
# A deadlock with a rank that was killed is another error, which does not claim that it has called MPI_Finalize.
run -n 4 -disable-auto-cleanup "$folder/dies" in 1; expect_code 125
expect_err "error[T09] rank 3 was killed by signal 9"; expect_err "error[T05] deadlock: ranks 0-2 wait for rank 3, which has ended"
[ "$(grep -c "killed by" <<< "$err")" = 1 ] && [[ "$err" != *"MPI_Finalize"* ]] || wrong "$what reported a wrong end: $err"
expect_nothing_left
finish
