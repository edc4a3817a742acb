#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank whose environment variables are removed between mpiexec and the program is refused or reported, and never
# silently becomes rank 0 of 1. Programs without MPI, jobs of one rank, and programs that a rank starts on purpose are
# accepted.
. "$(dirname "$0")/../common.sh" "$1"
chmod 755 "$folder"
cat >"$folder/of.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    printf("%d of %d\n", rank, ranks);
    fflush(stdout);
    int const code = argc > 1 && rank == 0 ? system(argv[1]) : 0;
    MPI_Finalize();
    return code != 0;
}
END
"$build/bin/mpicc" "$folder/of.c" -o "$folder/of" || wrong mpicc
echo 'int main(void) { return 0; }' | "$build/bin/mpicc" -Wl,--no-as-needed -x c - -o "$folder/linked" || wrong mpicc
clean="env -i"
is_sanitized && clean="env -i ASAN_OPTIONS=$ASAN_OPTIONS TSAN_OPTIONS=$TSAN_OPTIONS"
expect_refused() {
    [ "$code" != 0 ] || wrong "$what succeeded: $out $err"
    expect_out ""; expect_err "(mpiexec) started this program as a rank of its job"; expect_err "Put that command in front of mpiexec"
}

run -n 2 $clean "$folder/of"; expect_refused
run -n 1 echo x : -n 1 $clean "$folder/of"; [ "$code" != 0 ] || wrong "$what succeeded"; expect_err "started this program as a rank"
# as by sudo, with a process in between
printf '#!/bin/sh\n%s "$@" &\nwait $!\n' "$clean" >"$folder/like-sudo"; chmod +x "$folder/like-sudo"
run -n 2 "$folder/like-sudo" "$folder/of"; expect_refused
if sudo -n true 2>/dev/null; then run -n 2 sudo -n "$folder/of"; expect_refused; fi
# a script that ignores the failure
printf '#!/bin/sh\n%s "$@"\nexit 0\n' "$clean" >"$folder/ignores"; chmod +x "$folder/ignores"
run -n 2 "$folder/ignores" "$folder/of"; expect_code 1; expect_refused
expect_err "ranks 0-1 on $(hostname) have not joined the job: MPI_Init did not find the variables"
# another user, without access to most of /proc of mpiexec
if [ "$(id -u)" = 0 ] && su -s /bin/sh nobody -c "test -x '$folder/of' -a -r '$build/lib/libmpi.so.12'"; then
    run -n 2 su - -s /bin/sh nobody -c "$folder/of"; [ "$code" != 0 ] || wrong "$what succeeded: $out"
    expect_err "(mpiexec) started this program as a rank of its job"
    run -n 2 su -s /bin/sh nobody -c "$folder/of"; expect_code 0; expect_lines $'0 of 2\n1 of 2'
fi
# if the program cannot see mpiexec: reported at the end of the job
space=(unshare --pid --fork --mount-proc)
[ "$(id -u)" = 0 ] || space+=(--map-root-user)
if "${space[@]}" true 2>/dev/null; then
    run -n 2 "${space[@]}" $clean "$folder/of"; expect_code 1; expect_out $'0 of 1\n0 of 1'
    expect_err "ranks 0-1 on $(hostname) have not joined the job"
    # also if mpiexec is process 1 of a container
    err=$("${space[@]}" "$mpiexec" -n 2 $clean "$folder/of" 2>&1); code=$?; what="mpiexec as process 1"
    [ "$code" != 0 ] || wrong "$what succeeded"; expect_err "process 1 (mpiexec) started this program as a rank"
    run -n 2 -q "${space[@]}" $clean "$folder/of"; expect_code 1; expect_silence
fi

# correct uses
run -n 2 hostname; expect_code 0; expect_silence
run -n 2 $clean hostname; expect_code 0; expect_silence
run -n 2 "$folder/linked"; expect_code 0; expect_silence
run -n 2 $clean "$folder/linked"; expect_code 0; expect_silence
run -n 1 $clean "$folder/of"; expect_code 0; expect_out "0 of 1"; expect_silence
run -n 2 sh -c "$clean '$mpiexec' -n 1 '$folder/of'"; expect_code 0; expect_out $'0 of 1\n0 of 1'; expect_silence
# a rank of the job starts a program on purpose
run -n 2 "$folder/of" "$clean '$folder/of'"; expect_code 0; expect_lines $'0 of 1\n0 of 2\n1 of 2'; expect_silence
# no job, and a job of another MPI
[ "$("$folder/of" 2>&1)" = "0 of 1" ] || wrong "a program on its own"
[ "$("$folder/of" 2>&1 | cat)" = "0 of 1" ] || wrong "a program on its own, into a pipe"
mkfifo -m 644 "$folder/fifo"; cat "$folder/fifo" >"$folder/read" & "$folder/of" >"$folder/fifo"; wait
[ "$(cat "$folder/read")" = "0 of 1" ] && [ "$(stat -c %a "$folder/fifo")" = 644 ] || wrong "a named pipe was changed"
if command -v mpiexec.mpich >/dev/null; then
    [ "$(mpiexec.mpich -n 2 env -i "$folder/of" 2>&1)" = $'0 of 1\n0 of 1' ] || wrong "under another mpiexec"
fi
finish
