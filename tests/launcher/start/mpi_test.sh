#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The bad days of real MPI programs.
. "$(dirname "$0")/../common.sh" "$1"
chatter=$build/tests/ranks_launcher_chatter
misbehave=$build/tests/ranks_launcher_misbehave
[ -x "$chatter" ] && [ -x "$misbehave" ] || { echo "the MPI programs are not built"; exit 77; }

run -n 4 "$misbehave" 2 exit; expect_code 1; expect_err "rank 2 on"; expect_err "without calling MPI_Finalize"; expect_within 2000
run -n 4 "$misbehave" 1 abort; expect_code 17; expect_err "rank 1 on"; expect_err "code 17"; expect_within 2000
run -n 2 "$misbehave" 1 abort 0; expect_code 0; expect_err "code 0"; expect_within 2000   # as MPICH and Open MPI
run -n 4 "$misbehave" 3 crash; expect_code 134; expect_err "rank 3 on"; expect_err "signal 6 (Aborted)"; expect_within 2000
run -n 3 -timeout 1 "$misbehave" 0 hang; expect_code 124; expect_err "What ranks wait for:
  ranks 1 and 2  MPI_Barrier(MPI_COMM_WORLD)"
run -n 2 "$misbehave" 0 nothing : -n 1 true; expect_code 1; expect_err "without calling MPI_Init"; expect_within 2000

# What all ranks say is told once, behind their numbers; here at most once in each tenth of a second until they are
# killed. Lines of the program that look alike stay as they are.
run -n 8 "$misbehave" 0 alike; expect_told_once
run -n 8 --merge-stderr-to-stdout "$misbehave" 0 alike; [[ "$out" == *"error[MPI_ERR_RANK] MPI_Send: dest"* ]] || wrong "$what lost words: $out"
run -n 8 -l "$misbehave" 0 alike; expect_err $'\nerror[MPI_ERR_RANK] MPI_Send: dest'
[[ "$err" != *"] rank"*": MPI_Send"* ]] || wrong "$what told it twice: $err"
run -n 3 "$misbehave" 0 early; expect_err "error[MPI_ERR_OTHER] MPI_Comm_rank was called before MPI_Init
  rank"; expect_err "  MPI_Comm_rank(…)  "
[[ "$err" != *"linked"* && "$err" != *"has loaded"* ]] || wrong "$what guessed: $err"

# what containers forbid is not missed
"$forbid" cma -- "$mpiexec" -n 3 "$chatter" 0.3 || wrong "without CMA"
"$forbid" sockets -- "$mpiexec" -n 3 "$chatter" 0.3 || wrong "without sockets"
if unshare -m true 2> /dev/null; then
    unshare -m sh -c "umount -l /dev/shm 2> /dev/null; mount -t tmpfs -o ro none /dev/shm 2> /dev/null; exec $mpiexec -n 3 $chatter 0.3" || wrong "without /dev/shm"
fi
if unshare -n true 2> /dev/null; then unshare -n "$mpiexec" -n 3 "$chatter" 0.3 || wrong "without a network"; fi
TUTTI_CMA=0 run -n 3 "$chatter" 0.3; expect_code 0; expect_silence
(failures=0; ulimit -v 4000000; run -n 3 "$chatter" 0.3; expect_code 0; exit $failures) || failures=$((failures + 1))

# many ranks
run -n 64 "$misbehave" 63 nothing; expect_code 0; expect_silence
run -n 64 "$misbehave" 63 exit; expect_code 1; expect_err "rank 63"

# programs built against another MPI library
if command -v mpicc.mpich > /dev/null; then
    [ -w /dev/shm ] || export UCX_POSIX_DIR=$folder # MPICH's UCX ends without a place for its segments
    printf '#include <mpi.h>\n#include <stdio.h>\nint main(int c, char** v) { int n; MPI_Init(&c, &v); MPI_Comm_size(MPI_COMM_WORLD, &n); printf("of %%d\\n", n); MPI_Finalize(); return 0; }\n' > "$folder/of.c"
    mpicc.mpich "$folder/of.c" -o "$folder/of" || wrong "mpicc.mpich"
    mpicc.mpich "$folder/of.c" -o "$folder/of-rpath" -Wl,--disable-new-dtags,-rpath,/usr/lib/x86_64-linux-gnu || wrong "mpicc.mpich"
    run -n 2 --drop-in "$folder/of"; expect_code 0; expect_out $'of 2\nof 2'; expect_silence
    run -n 2 --drop-in "$folder/of-rpath"; expect_code 0; expect_out $'of 2\nof 2'
    run -n 2 "$folder/of"; expect_code 126; expect_out ""; expect_err "libmpich.so.12"; expect_err "--drop-in"
    run -n 1 "$folder/of"; expect_code 0; expect_out 'of 1'; expect_silence
fi
if command -v mpicc.openmpi > /dev/null && mpicc.openmpi "$folder/of.c" -o "$folder/of-openmpi" 2> /dev/null; then
    run -n 2 --drop-in "$folder/of-openmpi"; expect_code 126; expect_err "libmpi.so.40"
    run -n 2 "$folder/of-openmpi"; expect_code 126; expect_out ""; expect_err "libmpi.so.40"; expect_err "compile the program"
fi
finish
