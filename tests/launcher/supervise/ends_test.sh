#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ends of jobs: exit codes, messages, and no process left behind.
. "$(dirname "$0")/../common.sh" "$1"

run -n 4 "$rank" init finalise; expect_code 0; expect_silence
run -n 4 true; expect_code 0; expect_silence
run -n 3 "$rank" only 1 exit 5; expect_code 5; expect_err "rank 1 on $(hostname), process "; expect_err "exit code 5"
run -n 3 "$rank" only 2 signal 11 sleep "$nap"; expect_code 139; expect_err "rank 2"; expect_err "signal 11 (Segmentation fault)"

# exit without MPI_Finalize
run -n 3 "$rank" init only 1 exit 0 sleep "$nap"; expect_code 1; expect_err "rank 1"; expect_err "without calling MPI_Finalize"
run -n 2 "$rank" init exit 9; expect_code 9; expect_err "without calling MPI_Finalize"
# exit without MPI_Init while another rank is in MPI, after and before it
run -n 2 "$rank" only 1 await 0 only 1 exit 0 init sleep "$nap"; expect_code 1; expect_err "rank 1"; expect_err "MPI_Init"
run -n 1 sh -c "$await_leaver; exec '$rank' init sleep $nap" : -n 1 sh -c "$leave; exit 0"; expect_code 1; expect_err "MPI_Init"
# failing after MPI_Finalize does not end the others
rm "$folder/leaver"
run -n 1 sh -c "'$rank' init finalise; $await_leaver; echo lives" : -n 1 sh -c "$leave; exec '$rank' init finalise exit 3"
expect_code 3; expect_err "rank 1"; expect_out lives

# MPI_Abort
run -n 4 "$rank" init only 3 abort 42 sleep "$nap"; expect_code 42; expect_err "rank 3"; expect_err "code 42"
run -n 2 "$rank" init abort 0; expect_code 0; expect_err "ended the job with code 0"

# time limit, also for ranks that ignore SIGTERM; the report of waiting ranks
time_out "ranks 0 and 1  MPI_Recv from rank 1, tag 7" run -n 2 "$rank" init wait "MPI_Recv from rank 1, tag 7"
run -n 2 -timeout 0.2 sh -c 'trap "" TERM; while true; do sleep 1; done'; expect_code 124; expect_nothing_left

# programs that cannot be started
run -n 2 not-a-program; expect_code 127; expect_err "not-a-program"
run -n 2 /etc/passwd; expect_code 126; expect_err "not executable"
run -n 2 -wdir /nowhere true; expect_code 127; expect_err "/nowhere"
printf '#!/nowhere/sh\n' > "$folder/script"; chmod +x "$folder/script"
run -n 2 "$folder/script"; expect_code 127; expect_err "interpreter"
printf 'echo plain\n' > "$folder/plain"; chmod +x "$folder/plain"
run -n 1 "$folder/plain"; expect_code 0; expect_out plain
run -n 2 sleep "$nap" : -n 1 not-a-program; expect_code 127

# no messages with -q
run -q -n 2 false; expect_code 1; expect_silence

# processes left by ranks are also ended, in any session, and however the job ends
run -n 3 "$rank" orphan "$nap"; expect_code 1; expect_err "the ranks have ended but left running: process "; expect_nothing_left
for end in "exit 1" "signal 9" "abort 3"; do
    run -n 3 "$rank" orphan "$nap" init only 1 $end sleep "$nap"; expect_nothing_left
done
run -n 2 sh -c "sleep $nap & (setsid sleep $nap &) ; exit 0"; expect_code 1; expect_err " (sleep), process "; expect_nothing_left
# a script that does not wait for the program that continues as the rank
run -n 2 sh -c "'$rank' sleep $nap init & exit 0"; expect_code 1; expect_nothing_left
expect_err "which could still print and was ended with the job; a script must wait for the processes that it starts"
run -q -n 1 sh -c "sleep $nap & exit 0"; expect_code 1; expect_silence; expect_nothing_left
# a process that has closed the rank's output is not ended
run -n 1 sh -c "setsid sleep $nap > '$folder/own' 2>&1 & exit 0"; expect_code 0; expect_nothing_left
expect_err "the ranks have ended but left running: process "
# processes that a shell started before it became mpiexec are not ended
bash -c 'sleep "$1" & exec "$2" -n 1 true' sh "$nap" "$mpiexec"
pkill -f "^sleep $nap\$" || wrong "mpiexec ended a process that it had not started"
finish
