#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The memory limit of a container is reached: mpiexec survives, reports this, and ends the job in time.
. "$(dirname "$0")/../common.sh" "$1"
eater=$build/tests/ranks_launcher_eater
limit_mb=192

# A new control group below that of the test.
own() { sed -nE "s/^[0-9]+:$1:(.*)/\1/p" /proc/self/cgroup; }
if [ -w /sys/fs/cgroup/memory ]; then
    parent=/sys/fs/cgroup/memory$(own '([^:]*,)?memory(,[^:]*)?' | tail -1)
    [ -d "$parent" ] || parent=/sys/fs/cgroup/memory
    limit=memory.limit_in_bytes
else
    parent=/sys/fs/cgroup limit=memory.max
fi
group=$parent/tutti-test-$$
cleanup() { rm -rf "$folder"; for _ in $(seq 20); do rmdir "$group" 2> /dev/null && break; [ -d "$group" ] || break; sleep 0.1; done; }
if ! mkdir "$group" 2> /dev/null || ! echo $((limit_mb << 20)) 2> /dev/null > "$group/$limit"; then
    rmdir "$group" 2> /dev/null
    skip "no control group with a memory limit can be created (this requires root and a writable /sys/fs/cgroup)"
fi
trap cleanup EXIT
[ -e "$group/memory.swap.max" ] && echo 0 2> /dev/null > "$group/memory.swap.max"
[ -e "$group/memory.memsw.limit_in_bytes" ] && echo $((limit_mb << 20)) 2> /dev/null > "$group/memory.memsw.limit_in_bytes"

# limited ARGUMENTS OF MPIEXEC: like run, inside that cgroup
limited() {
    (echo "$BASHPID" > "$group/cgroup.procs" && exec "$mpiexec" "$@") > "$folder/out" 2> "$folder/err" < /dev/null
    code=$?
    out=$(tr -d '\0' < "$folder/out"); err=$(cat "$folder/err")
    what="mpiexec $* within $limit_mb MiB"
}

limited -n 2 "$eater" 32; expect_code 0; expect_silence
for arena in yes no; do
    limited -n 2 -timeout 60 -genv TUTTI_ARENA $arena "$eater" 400
    expect_code 137; expect_err " killed by signal 9"; expect_err "the memory limit of its cgroup, $limit_mb MiB, was reached"
    grep -q "process [0-9]* on $(hostname)" <<< "$err" || wrong "$what named no process: $err"
done
# a rank killed by another process in the same control group: no such message
limited -n 2 "$rank" init only 1 signal 9 sleep "$nap"; expect_code 137
[[ "$err" == *"memory limit"* ]] && wrong "a kill was reported as a lack of memory: $err"
run -n 2 "$rank" init only 0 signal 7 sleep "$nap"; expect_code 135; expect_err "signal 7 (Bus error)"; expect_err "the system had no page left"
finish
