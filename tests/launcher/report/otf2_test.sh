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
finish
