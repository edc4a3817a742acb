#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# --report and --trace of jobs that end well, hang, and are killed, on one node and two; the pages are opened in a
# browser where there is one.
. "$(dirname "$0")/../nodes/nodes_common.sh" "$1"
here=$(cd "$(dirname "$0")" && pwd)
[ -x "$build/bin/mpicc" ] && [ -e "$build/lib/libmpi.so.12" ] || { echo "the MPI library is not built"; exit 77; }
"$build/bin/mpicc" -g "$here/traced_program.c" -o "$folder/traced" || exit 1
page=$folder/run.html trace=$folder/run.json

# looks FILE CHECK...
looks() { python3 "$here/look_at_page.py" "$@" || wrong "$what wrote a page that is not as it should be: $*"; }

run -n 4 --report "$page" --trace "$trace" "$folder/traced"; expect_code 0; expect_silence
looks "$page" ranks=4 well messages=30.. collectives=12.. place=traced_program.c cause="late sender" cause="wait at barrier" \
    algorithms=allreduce,barrier,bcast
python3 - "$trace" <<'END' || wrong "$what wrote a trace that is not as it should be"
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
count = lambda phase: sum(e["ph"] == phase for e in events)
assert count("X") > 100 and count("s") == count("f") >= 30, (count("X"), count("s"), count("f"))
assert {e["tid"] for e in events if e["ph"] == "X"} == {0, 1, 2, 3}
assert any("traced_program.c:" in e["args"].get("place", "") for e in events if e["ph"] == "X")
END

# the same as an OTF2 archive, twice under one name; whoever reads it finds as many ends as begins
if command -v otf2-print >/dev/null; then
    for ranks in 4 3; do
        run -n "$ranks" --trace "$folder/run.otf2" "$folder/traced"; expect_code 0; expect_silence
        otf2-print "$folder/run.otf2" >"$folder/events" 2>&1 || wrong "otf2-print does not read what $what wrote"
        python3 - "$folder/events" "$ranks" <<'END' || wrong "$what wrote an archive that is not as it should be"
import collections, sys
lines = [line.split() for line in open(sys.argv[1])]
events = [words for words in lines if words and (words[0] in ("ENTER", "LEAVE") or words[0].startswith("MPI_"))]
count = collections.Counter(words[0] for words in events)
assert count["ENTER"] == count["LEAVE"] > 50, count
assert count["MPI_SEND"] == count["MPI_RECV"] >= 15, count
assert count["MPI_COLLECTIVE_BEGIN"] == count["MPI_COLLECTIVE_END"] >= 10, count
assert {words[1] for words in events} == {str(rank) for rank in range(int(sys.argv[2]))}
last = {}
for name, rank, time, *rest in events:
    assert last.get(rank, 0) <= int(time), (name, rank, time)
    last[rank] = int(time)
assert any("traced_program.c:" in " ".join(words) for words in lines)
END
    done
    touch "$folder/run/mine"
    run -n 2 --trace "$folder/run.otf2" "$folder/traced"; expect_code 1; expect_err "run.otf2 cannot be written: File does already exist"
    [ -e "$folder/run/mine" ] || wrong "$what removed a file that is not its own"
else
    echo "OTF2 archives are not looked at: there is no otf2-print (Debian's otf2-tools)."
fi

# a deadlock: the page has what mpiexec says, and the calls that never ended
run -n 3 --report "$page" "$folder/traced" hang; expect_code 125; expect_err "error[T0"
looks "$page" ranks=3 error=T0 unfinished=3 place=traced_program.c

# nothing is lost by a kill, of a rank or by a time limit
run -n 3 --report "$page" "$folder/traced" kill; expect_code 137
looks "$page" ranks=3 ending="killed" messages=10..
TUTTI_DIAGNOSIS=no run -n 2 -timeout 1 --report "$page" "$folder/traced" hang; expect_code 124
looks "$page" ranks=2 ending="time limit" unfinished=2

# a ring that was too small keeps the last events
run -n 2 --report "$page" --report-events 64 "$folder/traced"; expect_code 0
looks "$page" ranks=2 lost well

run -n 2 --report "$folder/no/such/folder.html" "$folder/traced"; expect_code 1; expect_err "no/such/folder.html cannot be written"
run -n 2 --report "$page" true; expect_code 1; expect_err "no rank has called MPI_Init, so there is nothing to report"

# two nodes: the recordings of both, and how far their clocks may be off
on "$two" -n 4 --silence 20 --start-timeout 60 --report "$page" "$folder/traced"; expect_code 0
looks "$page" ranks=4 well messages=30.. nodes=2 place=traced_program.c
on "$two" -n 4 --silence 20 --start-timeout 60 --report "$page" "$folder/traced" hang; expect_code 125
looks "$page" ranks=4 error=T0 unfinished=4
expect_nothing_left

# who does not ask for a report pays no memory for it
run -n 2 "$folder/traced"; expect_code 0; expect_silence
finish
