#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# --report and --trace of jobs that succeed, hang, or are killed, on one node and two. With LOOK=--browser in the
# environment, a browser also opens each page.
. "$(dirname "$0")/../nodes/nodes_common.sh" "$1"
"$build/bin/mpicc" -g "$here/traced_program.c" -o "$folder/traced" || exit 1
page=$folder/run.html trace=$folder/run.json

# check_page FILE CHECK...
check_page() { python3 "$here/look_at_page.py" ${LOOK:-} "$@" || wrong "$what wrote a page that failed a check: $*"; }

run -n 4 --report "$page" --trace "$trace" "$folder/traced"; expect_code 0
[ "$err" = "mpiexec: $page contains the report (open it in a browser).
mpiexec: $trace contains the trace (open it in https://ui.perfetto.dev)." ] || wrong "$what does not name its files: $err"
run -q -n 4 --report "$page" --trace "$trace" "$folder/traced"; expect_code 0; expect_silence
check_page "$page" ranks=4 well messages=30.. collectives=12.. place=traced_program.c cause="late sender" cause="wait at barrier" \
    algorithms=allreduce,barrier,bcast
python3 - "$trace" <<'END' || wrong "$what wrote an invalid trace"
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
count = lambda phase: sum(e["ph"] == phase for e in events)
assert count("X") > 100 and count("s") == count("f") >= 30, (count("X"), count("s"), count("f"))
assert {e["tid"] for e in events if e["ph"] == "X"} == {0, 1, 2, 3}
assert any("traced_program.c:" in e["args"].get("place", "") for e in events if e["ph"] == "X")
END

# more ranks than cores, which the page reports first; a simulated machine, by whose sockets and caches ranks are folded
cores=$(taskset -cp $$ | sed 's/.*: //')
taskset -cp "${cores%%[,-]*}" $$ > "$folder/null"
TUTTI_TOPOLOGY="socket:2 l3:2 core:16" run -n 64 --report "$page" "$folder/traced"; expect_code 0
taskset -cp "$cores" $$ > "$folder/null"
check_page "$page" ranks=64 well oversubscribed=64/1 folds=node,socket,l3

# a deadlock: the page has the report of mpiexec, and the calls that never ended
run -n 3 --report "$page" "$folder/traced" hang; expect_code 125; expect_err "error[T0"
check_page "$page" ranks=3 error=T0 unfinished=3 place=traced_program.c

# no data is lost if a rank is killed or the time limit is reached
run -n 3 --report "$page" "$folder/traced" kill; expect_code 137
check_page "$page" ranks=3 error=T09 messages=10..
TUTTI_DIAGNOSIS=no time_out "rank 1" run -n 2 --report "$page" "$folder/traced" hang
check_page "$page" ranks=2 ending="time limit" unfinished=2

# a ring buffer that is too small keeps the last events
run -n 2 --report "$page" --report-events 64 "$folder/traced"; expect_code 0
check_page "$page" ranks=2 lost well

# output files are checked before the job: what cannot be written, and what mpiexec has not written
refuses() { run -n 2 "$1" "$2" touch "$folder/ran"; expect_code 2; expect_err "mpiexec: $1: $2$3"; }
printf '#!/bin/sh\nexit 0\n' > "$folder/script"
printf '{"answer": 42}\n' > "$folder/data.json"
sums=$(cksum "$folder/traced" "$folder/script" "$folder/data.json")
for option in --report --trace --report-pid; do
    refuses "$option" "$folder/no/such/file" " cannot be written: the folder $folder/no/such does not exist."
    refuses "$option" "$folder" " is a folder; name a file in it."
    refuses "$option" /sys/file " cannot be written: "
    for file in "$folder/traced" "$folder/script" "$folder/data.json"; do
        refuses "$option" "$file" " exists and was not written by mpiexec $option; remove it or choose another name."
    done
done
[ "$(cksum "$folder/traced" "$folder/script" "$folder/data.json")" = "$sums" ] || wrong "a file of the user was changed"
refuses --report "$trace" " exists and was not written by mpiexec --report"
refuses --trace "$page" " exists and was not written by mpiexec --trace"
run -n 2 --report "$folder/new" --trace "$folder/new" touch "$folder/ran"; expect_code 2
expect_err "--report and --trace name the same file, $folder/new"
# an empty file and a device are written to
: > "$folder/empty.html"
run -n 2 --report "$folder/empty.html" --trace /dev/null "$folder/traced"; expect_code 0
check_page "$folder/empty.html" ranks=2 well
run -n 2 -outfile-pattern "$folder/traced/%r" touch "$folder/ran"; expect_code 2; expect_err "$folder/traced/0"
if grep -q '^OTF2_LIBRARY:FILEPATH=.*NOTFOUND' "$build/CMakeCache.txt"; then
    run -n 2 --trace "$folder/run.otf2" touch "$folder/ran"; expect_code 1; expect_err "Tutti was built without libotf2"
fi
[ ! -e "$folder/ran" ] || wrong "a job ran whose reports cannot be written"
run -n 2 --report "$page" true; expect_code 1; expect_err "no rank has called MPI_Init of Tutti's library, so there is nothing to report"

# two nodes: the recordings of both, and the uncertainty of their clocks
on "$two" -n 4 --report "$page" "$folder/traced"; expect_code 0
check_page "$page" ranks=4 well messages=30.. nodes=2 folds=node place=traced_program.c
on "$two" -n 4 --report "$page" "$folder/traced" hang; expect_code 125
check_page "$page" ranks=4 error=T0 unfinished=4
expect_nothing_left

# without --report, no memory is used for it
run -n 2 "$folder/traced"; expect_code 0; expect_silence
finish
