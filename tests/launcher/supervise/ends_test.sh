#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# How jobs end: exit codes, sentences, and nothing left behind.
. "$(dirname "$0")/../common.sh" "$1"

run -n 4 "$rank" init finalise; expect_code 0; expect_silence
run -n 4 true; expect_code 0; expect_silence
run -n 3 "$rank" only 1 exit 5; expect_code 5; expect_err "rank 1 on $(hostname), process "; expect_err "exit code 5"
run -n 3 "$rank" only 2 signal 11 sleep 60; expect_code 139; expect_err "rank 2"; expect_err "signal 11 (Segmentation fault)"; expect_within 1500

# leaving without MPI_Finalize
run -n 3 "$rank" init only 1 exit 0 sleep 60; expect_code 1; expect_err "rank 1"; expect_err "without calling MPI_Finalize"; expect_within 1500
run -n 2 "$rank" init exit 9; expect_code 9; expect_err "without calling MPI_Finalize"
# leaving without MPI_Init while another is in MPI, before and after it
run -n 2 "$rank" only 1 sleep 0.2 only 1 exit 0 init sleep 60; expect_code 1; expect_err "rank 1"; expect_err "MPI_Init"; expect_within 1500
run -n 2 "$rank" only 1 exit 0 sleep 0.2 init sleep 60; expect_code 1; expect_err "MPI_Init"; expect_within 2000
# failing after MPI_Finalize does not end the others
run -n 2 "$rank" init finalise only 1 exit 3 sleep 0.3; expect_code 3; expect_err "rank 1"

# MPI_Abort
run -n 4 "$rank" init only 3 abort 42 sleep 60; expect_code 42; expect_err "rank 3"; expect_err "code 42"; expect_within 1500
run -n 2 "$rank" init abort 0; expect_code 0; expect_err "ended the job with code 0"

# time-out, also of ranks that do not want to hear of it; and what they waited for
run -n 2 -timeout 0.3 "$rank" init wait "MPI_Recv from rank 1, tag 7"; expect_code 124; expect_err "What ranks wait for:
  ranks 0 and 1  MPI_Recv from rank 1, tag 7"
run -n 2 -timeout 0.2 sh -c 'trap "" TERM; while true; do sleep 60; done'; expect_code 124; expect_within 1500

# programs that cannot be started
run -n 2 not-a-program; expect_code 127; expect_err "not-a-program"
run -n 2 /etc/passwd; expect_code 126; expect_err "not executable"
run -n 2 -wdir /nowhere true; expect_code 127; expect_err "/nowhere"
printf '#!/nowhere/sh\n' > "$folder/script"; chmod +x "$folder/script"
run -n 2 "$folder/script"; expect_code 127; expect_err "interpreter"
printf 'echo plain\n' > "$folder/plain"; chmod +x "$folder/plain"
run -n 1 "$folder/plain"; expect_code 0; expect_out plain
run -n 2 sleep 60 : -n 1 not-a-program; expect_code 127; expect_within 1000

# silence when asked for
run -q -n 2 false; expect_code 1; expect_silence

# what ranks leave behind goes, too, in whatever session it hid, and however the job ends
run -n 3 "$rank" orphan sleep 0.1; expect_code 0; expect_within 2000
for end in "exit 1" "signal 9" "abort 3"; do
    run -n 3 "$rank" orphan init sleep 0.1 only 1 $end sleep 60; expect_within 1500
    left=$(pgrep -fc '^sleep 1234$'); [ "$left" = 0 ] || wrong "$left processes were left behind by a job that ended with $end"
done
run -n 2 sh -c 'sleep 1235 & (setsid sleep 1236 &) ; exit 0'; expect_code 0; expect_within 2000
left=$(pgrep -fc '^sleep 123[56]$'); [ "$left" = 0 ] || wrong "$left background processes were left behind"
# what a shell had started before it became mpiexec is not ours
bash -c "sleep 1239 & echo \$! > $folder/pid; exec $mpiexec -n 1 true"
kill "$(cat "$folder/pid")" 2> /dev/null || wrong "mpiexec ended a process that it had not started"
finish
