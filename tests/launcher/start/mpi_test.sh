#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Errors, aborts and restrictions of real MPI programs.
. "$(dirname "$0")/../common.sh" "$1"
chatter=$build/tests/ranks_launcher_chatter
misbehave=$build/tests/ranks_launcher_misbehave

run -n 4 "$misbehave" 2 exit; expect_code 1; expect_err "rank 2 left"; expect_err "without calling MPI_Finalize"
run -n 4 "$misbehave" 1 abort; expect_code 17; expect_err "rank 1 on"; expect_err "code 17"
run -n 2 "$misbehave" 1 abort 0; expect_code 0; expect_err "code 0"   # as MPICH and Open MPI
run -n 4 "$misbehave" 3 crash; expect_code 134; expect_err "rank 3 was killed"; expect_err "signal 6 (Aborted)"
time_out "ranks 1 and 2  MPI_Barrier(MPI_COMM_WORLD)" run -n 3 "$misbehave" 0 hang
run -n 2 "$misbehave" 0 nothing : -n 1 true; expect_code 1; expect_err "without calling MPI_Init"

# Equal messages of all ranks are reported once, after the list of ranks; here at most once per 0.1 s until they are
# killed. Similar lines of the program are not changed.
run -n 8 "$misbehave" 0 alike; expect_reported_once
run -n 8 --merge-stderr-to-stdout "$misbehave" 0 alike; [[ "$out" == *"error[MPI_ERR_RANK] MPI_Send: dest"* ]] || wrong "$what lost a message: $out"
run -n 8 -l "$misbehave" 0 alike; expect_err $'\nerror[MPI_ERR_RANK] MPI_Send: dest'
[[ "$err" != *"] rank"*": MPI_Send"* ]] || wrong "$what reported it twice: $err"
run -n 3 "$misbehave" 0 early; expect_err "error[MPI_ERR_OTHER] MPI_Comm_rank was called before MPI_Init
  rank"; expect_err "  MPI_Comm_rank(MPI_COMM_WORLD)  "
[[ "$err" != *"linked"* && "$err" != *"has loaded"* ]] || wrong "$what guessed: $err"

# ranks do not need system calls that containers forbid
"$forbid" cma -- "$mpiexec" -n 3 "$chatter" 0.1 || wrong "without CMA"
"$forbid" sockets -- "$mpiexec" -n 3 "$chatter" 0.1 || wrong "without sockets"
TUTTI_CMA=0 run -n 3 "$chatter" 0.1; expect_code 0; expect_silence
(failures=0; ulimit -v 4000000; run -n 3 "$chatter" 0.1; expect_code 0; exit $failures) || failures=$((failures + 1))

# many ranks
run -n 64 "$misbehave" 63 nothing; expect_code 0; expect_silence
run -n 64 "$misbehave" 63 exit; expect_code 1; expect_err "rank 63"
finish
