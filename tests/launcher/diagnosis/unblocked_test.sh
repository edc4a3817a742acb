#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The table of waiting ranks names the ranks for which others wait, with their last MPI call and their present location,
# whatever they do and however the table is requested.
. "$(dirname "$0")/../common.sh" "$1"

cat >"$folder/busy.c" <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int go = 1;
static char const* how;

static void spin(void) {
    while (go) {}   // SPIN
}
static void act(int rank) {
    struct timespec t;
    if (strcmp(how, "spin") == 0) spin();   // CALL
    if (strcmp(how, "many") == 0 && (rank == 2 || rank >= 5)) spin();   // MANY
    if (strcmp(how, "sleep") == 0) while (go) usleep(100000000);   // SLEEP
    if (strcmp(how, "read") == 0) while (go) read(STDIN_FILENO, &t, sizeof t);   // READ
    if (strcmp(how, "clock") == 0) while (go) clock_gettime(CLOCK_MONOTONIC, &t);   // CLOCK
    if (strcmp(how, "wtime") == 0) while (go) MPI_Wtime();   // WTIME
}
int main(int argc, char** argv) {
    int rank, before = strcmp(argv[1], "before") == 0;
    how = argv[1];
    if (before && strcmp(getenv("PMI_RANK"), "2") == 0) spin();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);   // LAST
    if (rank == 2 || argc > 2) act(rank);
    MPI_Barrier(MPI_COMM_WORLD);   // WAIT
    return MPI_Finalize();
}
END
busy=$folder/busy
"$build/bin/mpicc" -g "$busy.c" -o "$busy" || exit 1
line() { echo "busy.c:$(grep -nm1 "// $1\$" "$busy.c" | cut -d: -f1)"; }
waiting="ranks 0-1,3  MPI_Barrier(MPI_COMM_WORLD)  $(line WAIT) in main()"
outside="rank 2 is not in MPI; its last call was MPI_Comm_rank, $(line LAST) in main()"
spinning="now at $(line SPIN) in spin(), called from $(line CALL) in act(), called from "

time_out "$waiting*$outside*$spinning" run -n 4 "$busy" spin
time_out "$waiting*$outside*$spinning" run -n 4 --check "$busy" spin
time_out "$outside*now in usleep(), called from $(line SLEEP) in act()" run -n 4 "$busy" sleep
mkfifo "$folder/silent"
exec 3<>"$folder/silent"
time_out "$outside*now in *read??, called from $(line READ) in act()" run -n 4 -s 2 "$busy" read <&3
exec 3>&-
time_out "$outside*now *, called from $(line CLOCK) in act()" run -n 4 "$busy" clock
time_out "rank 2 is in MPI_Wtime at $(line WTIME) in act() and has not waited there for long" run -n 4 "$busy" wtime
time_out "rank 2 has not called MPI_Init*now at $(line SPIN) in spin(), called from " run -n 4 "$busy" before
time_out "ranks 0-1,3-4  MPI_Barrier*ranks 2,5-7 are not in MPI; their last call was MPI_Comm_rank, $(line LAST) in main()
    now at $(line SPIN) in spin(), called from $(line MANY) in act()" run -n 8 "$busy" many all

# a program started by a script
time_out "rank 2 has not called MPI_Init
    now process * (sleep) in " run -n 3 sh -c '[ $PMI_RANK != 2 ] || sleep 1000; exec "$0" spin' "$busy"

# no rank waits: few lines for any number of ranks; programs without MPI print nothing
for MPIEXEC_TIMEOUT in 2 20 200; do
    export MPIEXEC_TIMEOUT
    run -n 16 "$busy" spin all; expect_code 124
    [[ "$err" != *"ranks 0-15 are not in MPI"* ]] || break
done
expect_err "No rank has waited for another one for long:
  ranks 0-15 are not in MPI; their last call was MPI_Comm_rank, $(line LAST) in main()
"
[ "$(wc -l <<<"$err")" -le 8 ] || wrong "$what printed too many lines: $err"
MPIEXEC_TIMEOUT=1 run -n 2 sleep 1000; expect_code 124
[ "$err" = "mpiexec: the job was ended because its time limit of 1 s was reached." ] || wrong "$what printed $err"
unset MPIEXEC_TIMEOUT

# on request, as text and JSON; the ranks continue, a stopped one stays stopped, and Ctrl-C prints the table again
shows() { kill -USR1 "$job"; sleep 0.2; grep -q "$1" "$folder/err"; }
# Processes that a shell starts in the background ignore Ctrl-C.
env --default-signal=INT "$mpiexec" -n 4 "$busy" spin 2>"$folder/err" & job=$!
spins() { process=$(pgrep -P "$job" -x busy | sed -n 3p); [ -n "$process" ]; }
wait_until spins
wait_until shows "rank 2 is not in MPI"
state() { sed 's/.*) //' "/proc/$process/stat" | cut -c1; }
[ "$(state)" = R ] || wrong "a rank was left in state $(state)"
kill -STOP "$process"
wait_until shows "    now stopped by a signal at $(line SPIN) in spin()"
[ "$(state)" = T ] || wrong "a stopped rank was continued"
kill -CONT "$process"
tables() { grep -c "$outside" "$folder/err"; }
before=$(tables)
kill -INT "$job"; ended "$job" "a loop that is interrupted" 130
[ "$(tables)" -gt "$before" ] || wrong "$what printed no further table: $err"
expect_err "$waiting
  $outside
    $spinning"
MPIEXEC_TIMEOUT=5 run -n 4 --messages json "$busy" spin; expect_code 124
python3 - "$(grep '^{' <<<"$err")" "$(line LAST) in main()" <<'END' || wrong "$what printed $err"
import json, sys
table = json.loads(sys.argv[1])
other = table["not_waiting"][-1]
assert 2 in other["ranks"] and (other["doing"], other["call"], other["place"]) == ("outside MPI", "MPI_Comm_rank", sys.argv[2]), table
END
finish
