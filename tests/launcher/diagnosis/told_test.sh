#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# How mpiexec reports a proven error: exit codes, JSON, explanations, Ctrl-C, SIGUSR1. tests/diagnosis checks which
# errors are found.
. "$(dirname "$0")/../common.sh" "$1"

cat >"$folder/others_first.h" <<'END'
#include <stdio.h>
#include <unistd.h>

// Ranks 0 and 1 return when ranks 2 and 3, if they exist, sleep in their next call.
static void others_first(int rank) {
    int size, pid = getpid();
    char name[32], state = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank >= 2) MPI_Send(&pid, 1, MPI_INT, rank - 2, 9, MPI_COMM_WORLD);
    if (rank >= 2 || rank + 2 >= size) return;
    MPI_Recv(&pid, 1, MPI_INT, rank + 2, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    snprintf(name, sizeof name, "/proc/%d/stat", pid);
    for (int seen = 0; seen < 20; usleep(10000)) {
        FILE* file = fopen(name, "r");
        if (!file || fscanf(file, "%*d %*s %c", &state) != 1) _exit(1);
        fclose(file);
        seen = state == 'S' ? seen + 1 : 0;
    }
}
END
cat >"$folder/headon.c" <<'END'
#include <mpi.h>
#include "others_first.h"

int main(int argc, char** argv) {
    int rank, x;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rank %d is there\n", rank), others_first(rank);
    if (rank < 2) MPI_Recv(&x, 1, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
END
"$build/bin/mpicc" -g "$folder/headon.c" -o "$folder/headon" || exit 1
"$build/bin/mpicc" "$folder/headon.c" -o "$folder/without_g" || exit 1
headon=$folder/headon

run -n 4 "$headon"; expect_code 125
expect_err "error[T01] deadlock: ranks 0 and 1 wait for each other
  rank 0         MPI_Recv(1 MPI_INT from rank 1, tag 8, MPI_COMM_WORLD)  headon.c:9 in main()
  rank 1         MPI_Recv(1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD)  headon.c:9 in main()
  ranks 2 and 3  MPI_Barrier(MPI_COMM_WORLD)                             headon.c:10 in main()  (waits for them)
  help: all receive first: let one of them send first, or use MPI_Sendrecv or MPI_Irecv
  For details, run: mpiexec --explain T01"
[ "$(grep -c 'is there' <<<"$(head -4 <<<"$err")")" = 4 ] || wrong "$what did not print what ranks say first: $err"
[ "$(grep -c 'error\[' <<<"$err")" = 1 ] || wrong "$what reported it more than once: $err"
[[ "$err" != *$'\033'* ]] || wrong "$what coloured what is no terminal"

run -n 2 "$folder/without_g"; expect_code 125; expect_err "in main() of without_g"; expect_err "note: compile with -g"

run -n 2 --messages json "$headon"; expect_code 125
json=$(grep '^{' <<<"$err")
[ "$(python3 -c 'import json,sys; m = json.loads(sys.argv[1]); print(m["code"], [l["place"] for l in m["ranks"]])' "$json")" = \
    "T01 ['headon.c:9 in main()', 'headon.c:9 in main()']" ] || wrong "$what printed $json"

# the job is kept until Ctrl-C, which prints what ranks wait for
# Processes that a shell starts in the background ignore Ctrl-C.
env --default-signal=INT "$mpiexec" --on-deadlock wait -n 2 "$headon" 2>"$folder/err" &
job=$!
wait_until grep -q 'the job is kept for a debugger' "$folder/err"
kill -0 "$job" 2>/dev/null || wrong "--on-deadlock wait ended the job"
wait_until grep -q 'Ctrl-C ends the job' "$folder/err"
for rank in 0 1; do
    process=$(sed -nE "s/.*rank $rank is process ([0-9]+).*/\1/p" "$folder/err")
    [ "$(tr '\0' ' ' <"/proc/$process/cmdline")" = "$headon " ] || wrong "process $process is not rank $rank: $(cat "$folder/err")"
done
kill -INT "$job"; ended "$job" "--on-deadlock wait, interrupted" 130
expect_err "What ranks wait for:
  rank 0  MPI_Recv(1 MPI_INT from rank 1, tag 8, MPI_COMM_WORLD)  headon.c:9 in main()"

TUTTI_DIAGNOSIS=no time_out "rank 1" run -n 2 "$headon"
[[ "$err" != *"error["* ]] || wrong "$what searched for errors: $err"
time_out "rank 1" run -n 2 -genv TUTTI_DIAGNOSIS no "$headon"
run --on-deadlock perhaps -n 2 "$headon"; expect_code 2; expect_err "--on-deadlock must be wait or end, not 'perhaps'"

# on request, repeatedly, and the job continues
"$mpiexec" --on-deadlock wait -n 2 "$headon" 2>"$folder/err" &
job=$!
wait_until grep -q 'the job is kept for a debugger' "$folder/err"
table='What ranks wait for:'
shown() { [ "$(grep -A 2 "$table" "$folder/err" | grep -c '^  rank 1 ')" = "$1" ]; }
for times in 1 2; do
    kill -USR1 "$job"
    wait_until shown $times
done
grep -A1 "$table" "$folder/err" | grep -q "rank 0  MPI_Recv(1 MPI_INT from rank 1.*headon.c:9 in main()" ||
    wrong "SIGUSR1 printed $(cat "$folder/err")"
kill -0 "$job" 2>/dev/null || wrong "SIGUSR1 ended the job"
kill -TERM "$job"; wait "$job"

# a wrapper function in a separate file, whose line is less useful than that of its caller
cat >"$folder/around.c" <<'END'
#include <mpi.h>

void receive_from(int from) {
    int x;
    MPI_Recv(&x, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
END
cat >"$folder/callers.c" <<'END'
#include <mpi.h>

void receive_from(int from);

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) receive_from(1);
    else receive_from(0);
    return MPI_Finalize();
}
END
"$build/bin/mpicc" -g "$folder/around.c" "$folder/callers.c" -o "$folder/callers" || exit 1
run -n 2 "$folder/callers"; expect_code 125
expect_err "around.c:5 in receive_from(), called from callers.c:9"
expect_err "around.c:5 in receive_from(), called from callers.c:10"

# errors of MPI have the same form
cat >"$folder/beyond.c" <<'END'
#include <mpi.h>

static void pass(int to) { MPI_Send(&to, 1, MPI_INT, to, 0, MPI_COMM_WORLD); }

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    pass(7);
    return MPI_Finalize();
}
END
"$build/bin/mpicc" -g "$folder/beyond.c" -o "$folder/beyond" || exit 1
run -n 1 "$folder/beyond"; expect_code 6
expect_err "error[MPI_ERR_RANK] MPI_Send: dest is 7 but the communicator has 1 rank: 0 (on MPI_COMM_WORLD)
  rank 0  MPI_Send(1 MPI_INT to rank 7, tag 0, MPI_COMM_WORLD)  beyond.c:3 in pass()
  help: ranks are numbered from 0 to size - 1; use MPI_PROC_NULL for a neighbour that does not exist
  For details, run: mpiexec --explain MPI_ERR_RANK
mpiexec: rank 0 on "
run -n 2 --messages json "$folder/beyond"; expect_code 6; expect_err '{"code":"MPI_ERR_RANK",'
err=$("$folder/beyond" 2>&1); what="beyond without mpiexec"; expect_err "error[MPI_ERR_RANK] MPI_Send: dest is 7"; expect_err "
  rank 0  MPI_Send(1 MPI_INT to rank 7, tag 0, MPI_COMM_WORLD)  beyond.c:3 in pass()"

# an explanation for each error class of the library
grep -ohE 'ErrorClass::[a-z_]+' -r "$source"/{mpi_h,coll,p2p,rma,runtime} --include=*.cpp --include=*.hpp | sort -u |
    grep -vE '::(success|errhandler)$' | sed 's/.*:://; s/.*/MPI_ERR_\U&/; s/ASSERTION/ASSERT/; s/UNSUPPORTED$/&_OPERATION/' |
    while read -r class; do
        "$mpiexec" --explain "$class" >/dev/null || echo "$class"
    done >"$folder/unknown"
[ -s "$folder/unknown" ] && wrong "there is no explanation for $(cat "$folder/unknown")"

run --explain t01; expect_code 0; [[ "$out" == "T01: ranks wait for each other"* ]] || wrong "$what printed $out"
run --explain list; expect_code 0; [[ "$out" == *"  T05  "* ]] || wrong "$what printed $out"
run --explain err_rank; expect_code 0; [[ "$out" == "MPI_ERR_RANK: "* ]] || wrong "$what printed $out"
for name in nonsense ""; do
    run --explain "$name"; expect_code 2; expect_err "there is no code '$name'; --explain list shows all."
done
run --explain MPI_ERR_RNAK; expect_code 2
expect_err "there is no code 'MPI_ERR_RNAK'; did you mean MPI_ERR_RANK? (--explain list shows all)."
# Lines follow the width of the terminal; those of programs stay as they are.
COLUMNS=60 run --explain T10; expect_code 0
awk 'length > 60 && !/^    /' "$folder/out" | grep . && wrong "$what has lines of more than 60 characters"
[ "$(grep -c '^    ' "$folder/out")" = "$("$mpiexec" --explain T10 | grep -c '^    ')" ] || wrong "$what changed the programs"
finish
