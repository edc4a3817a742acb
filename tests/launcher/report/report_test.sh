#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# --report and --trace of jobs that succeed, hang, or are killed, on one node and two. With LOOK=--browser in the
# environment, a browser also opens each page.
. "$(dirname "$0")/../nodes/nodes_common.sh" "$1"
"$build/bin/mpicc" -g "$here/traced_program.c" -o "$folder/traced" || exit 1
page=$folder/run.html trace=$folder/run.json

# check_page FILE CHECK...
check_page() { python3 "$here/look_at_page.py" ${LOOK:-} "$@" || wrong "$what wrote a page that failed a check: $*"; }

run -n 4 --report "$page" --trace "$trace" "$folder/traced"; expect_code 0; expect_silence
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
TUTTI_TOPOLOGY="socket:2 l3:2 core:4" run -n 16 --report "$page" "$folder/traced"; expect_code 0
taskset -cp "$cores" $$ > "$folder/null"
check_page "$page" ranks=16 well oversubscribed=16/1 folds=node,socket,l3

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

for option in --report --trace; do
    run -n 2 "$option" "$folder/no/such/folder.html" touch "$folder/ran"; expect_code 2; expect_err "no/such/folder.html cannot be written: No such file"
    run -n 2 "$option" "$folder" touch "$folder/ran"; expect_code 2; expect_err "$folder cannot be written: Is a directory"
done
run -n 2 -outfile-pattern "$folder/traced/%r" touch "$folder/ran"; expect_code 2; expect_err "$folder/traced/0"
if grep -q '^OTF2_LIBRARY:FILEPATH=.*NOTFOUND' "$build/CMakeCache.txt"; then
    run -n 2 --trace "$folder/run.otf2" touch "$folder/ran"; expect_code 1; expect_err "Tutti was built without libotf2"
fi
[ ! -e "$folder/ran" ] || wrong "a job ran whose reports cannot be written"
run -n 2 --report "$page" true; expect_code 1; expect_err "no rank has called MPI_Init, so there is nothing to report"

# two nodes: the recordings of both, and the uncertainty of their clocks
on "$two" -n 4 --report "$page" "$folder/traced"; expect_code 0
check_page "$page" ranks=4 well messages=30.. nodes=2 folds=node place=traced_program.c
on "$two" -n 4 --report "$page" "$folder/traced" hang; expect_code 125
check_page "$page" ranks=4 error=T0 unfinished=4
expect_nothing_left

# without --report, no memory is used for it
run -n 2 "$folder/traced"; expect_code 0; expect_silence
finish
