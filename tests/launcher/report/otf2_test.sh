#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# --trace writes an OTF2 archive, twice with the same name: otf2-print finds equally many enter and leave events, and
# ascending times.
. "$(dirname "$0")/../common.sh" "$1"
need_package otf2-tools otf2-print
need_package libotf2-trace-dev "/usr/include/otf2/otf2.h"
grep -q '^OTF2_LIBRARY:FILEPATH=.*NOTFOUND' "$build/CMakeCache.txt" && skip "this build was configured without libotf2-trace-dev"
"$build/bin/mpicc" -g "$here/traced_program.c" -o "$folder/traced" || exit 1

for ranks in 4 3; do
    run -n "$ranks" --trace "$folder/run.otf2" "$folder/traced"; expect_code 0
    [ "$err" = "mpiexec: $folder/run.otf2 contains the trace (open it in Vampir)." ] || wrong "$what printed '$err'"
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
# files that belong to no archive of mpiexec are found before the job, and kept
refuses() {   # refuses ARCHIVE FILE
    run -n 2 --trace "$1" touch "$folder/ran"; expect_code 2
    expect_err "mpiexec: --trace: $2 exists and was not written by mpiexec --trace"
    [ -e "$2" ] && [ ! -e "$folder/ran" ] || wrong "$what removed $2, or ran the job"
}
touch "$folder/run/mine"; refuses "$folder/run.otf2" "$folder/run/mine"; rm "$folder/run/mine"
mkdir "$folder/other"; touch "$folder/other/0.evt"; refuses "$folder/other.otf2" "$folder/other/0.evt"
touch "$folder/third.def"; refuses "$folder/third.otf2" "$folder/third.def"
tr T X < "$folder/run.otf2" > "$folder/fourth.otf2"; refuses "$folder/fourth.otf2" "$folder/fourth.otf2"
finish
