#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# benchmarks/add.py appends a line for each operation, number of ranks and size to a copy of benchmarks/history.csv, with
# the ratios to the other MPIs; what cannot be measured is not added. Times are not checked.
# cores: 1
. "$(dirname "$0")/../common.sh" "$1"
export XDG_CACHE_HOME=$folder/cache   # tutti-bench keeps there what other MPIs have built
is_sanitized && skip "the sanitizers' builds have no history"
add=$source/benchmarks/add.py history=$folder/history.csv

# Other MPIs in PATH, whose launchers are Tutti's.
mkdir "$folder/bin"
for mpi in mpich openmpi; do
    printf '%s\n' '#!/bin/sh' 'for file; do :; done   # the last word' "cp '$build/bin/tutti-bench' \"\$file\"" >"$folder/bin/mpicxx.$mpi"
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$mpiexec" >"$folder/bin/mpiexec.$mpi"
done
chmod +x "$folder"/bin/*
export PATH=$folder/bin:$PATH

cp "$source/benchmarks/history.csv" "$history"
before=$(wc -l <"$history")
cores=$(nproc)
for run in 1 2; do
    out=$(python3 "$add" --quick --build "$build" --output "$history" 2>"$folder/err") || wrong "run $run: $? $(cat "$folder/err")"
    [ "$out" = "Added 4 lines to $history" ] || wrong "run $run: $out"
done
cmp -s <(head -n "$before" "$history") "$source/benchmarks/history.csv" || wrong "earlier lines have changed: $(cat "$history")"
python3 - "$history" "$before" "$cores" <<'EOF' || wrong "$(cat "$history")"
import csv, datetime, sys
rows = list(csv.DictReader(open(sys.argv[1])))[int(sys.argv[2]) - 1:]
wanted = [(operation, ranks, size) for ranks in (2, 4 * int(sys.argv[3])) for operation, size in (("barrier", 0), ("bcast", 8))]
assert [(row["operation"], int(row["ranks"]), int(row["bytes"])) for row in rows] == 2 * wanted, rows
for row in rows:
    assert all(row.values()) or not row["commit"], row   # a tree without git has no commit
    datetime.date.fromisoformat(row["date"])
    assert row["version"][0].isdigit() and int(row["cores"]) == int(sys.argv[3]), row
    assert float(row["microseconds"]) > 0 and float(row["ratio_to_mpich"]) > 0 and float(row["ratio_to_openmpi"]) > 0, row
EOF

# Only one other MPI, and a new file.
python3 "$add" --quick --build "$build" --output "$folder/new.csv" --against mpich >/dev/null 2>&1 || wrong "--against mpich: $?"
[ "$(head -n 1 "$folder/new.csv")" = "$(head -n 1 "$history")" ] && [ "$(grep -c ',$' "$folder/new.csv")" = 4 ] ||
    wrong "one other MPI: $(cat "$folder/new.csv")"

# Another kind of file, no build, a failed measurement.
lines=$(wc -l <"$history")
echo "other,columns" >"$folder/other.csv"
err=$(python3 "$add" --build "$build" --output "$folder/other.csv" 2>&1) && wrong "other columns: accepted"
[ "$err" = "add.py: $folder/other.csv has other columns than this script writes; nothing was added." ] || wrong "other columns: $err"
err=$(python3 "$add" --build "$folder" --output "$history" 2>&1) && wrong "without a build: accepted"
[ "$err" = "add.py: there is no $folder/bin/tutti-bench; build it first, or name the build folder with --build." ] ||
    wrong "without a build: $err"
printf '#!/bin/sh\nexit 3\n' >"$folder/bin/mpiexec.openmpi"
err=$(python3 "$add" --quick --build "$build" --output "$history" --against openmpi 2>&1 >/dev/null) && wrong "a failing MPI was accepted"
[[ "$err" == *"add.py: "*"/tutti-bench "*" ended with 1; nothing was added."* ]] || wrong "a failing MPI: $err"
[ "$(wc -l <"$history")" = "$lines" ] || wrong "lines were added: $(cat "$history")"
err=$(python3 "$add" --quick --against lam 2>&1) && wrong "--against lam was accepted"
[[ "$err" == *"--against knows mpich, openmpi, not lam"* ]] || wrong "--against lam: $err"
finish
