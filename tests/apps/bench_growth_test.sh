#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti-bench -n FROM:TO: a line for each number of ranks, whose columns follow from the times, as table, CSV and JSON;
# a launcher that takes too long or fails is not started again with more ranks. Times are not checked.
. "$(dirname "$0")/common.sh" "$1"
bench=$build/bin/tutti-bench
quick=(--seconds 0.01 --warmup 2 --timeout 300)   # long enough on a busy machine

# Another MPI, whose launcher is Tutti's.
mkdir "$folder/bin"
printf '%s\n' '#!/bin/sh' 'for file; do :; done   # the last word' "cp '$bench' \"\$file\"" >"$folder/bin/mpicxx"
printf '%s\n' '#!/bin/sh' 'echo "$2 $4" >>"$STARTED"' '[ "$FAIL_AT" != "$2" ] || exit 3' \
    '[ "$LATE_AT" != "$2" ] || exec sleep '$nap'' "exec '$build/bin/mpiexec' \"\$@\"" >"$folder/bin/mpiexec"
chmod +x "$folder"/bin/*
theirs=$folder/bin/mpicxx
# With two ranks its launcher exceeds the time limit; this runs in the background, because the limit must be long.
STARTED=$folder/late_started LATE_AT=2 "$bench" -n 1:4 "${quick[@]}" --timeout 15 --rounds 1 --against "$theirs" barrier \
    >"$folder/late" 2>&1 &
late=$!

# 3, 6, 12, but not 24 ranks; only the smallest size.
out=$("$bench" -n 3:20 "${quick[@]}" --rounds 2 --loop --json "$folder/growth.json" barrier bcast comm_dup) ||
    wrong "-n 3:20 ended with $?"
cat >"$folder/check.py" <<'EOF'
import json, math, sys
document, out = json.load(open(sys.argv[1])), sys.argv[2]
cores, runs = document["cores"], document["runs"]
assert [r["ranks"] for r in runs] == [3, 6, 12] and cores >= 1, document
tables = {}
for line in out.splitlines():
    words = line.split()
    if line.endswith((f" ranks on {cores} cores", " ranks on 1 core")):
        rows = tables[words[0].rstrip(",")] = []
    elif words and words[0].isdigit():
        rows.append(words)
assert list(tables) == ["barrier", "bcast", "comm_dup"], out
assert "\nbcast of 8 B, 3 to 12 ranks on " in out, out
def near(text, value, slack=0.006): return abs(float(text) - value) <= slack
for operation, rows in tables.items():
    before = None
    assert len(rows) == len(runs), rows
    for run, row in zip(runs, rows):
        (point,) = [p for p in run["series"][0]["points"] if p["operation"] == operation]
        assert point["bytes"] == (8 if operation == "bcast" else 0), point
        p = run["ranks"]
        assert row[0] == str(p), row
        for first, name in ((1, "median"), (4, "loop")):
            time = point[name]
            assert near(row[first], time) and near(row[first + 1], time * min(p, cores) / p), (row, point)
            if before:
                slope = math.log2(time / before[name])
                assert near(row[first + 2], slope, 0.006 + 0.002 / before[name]), (row, slope)
            else:
                assert row[first + 2] == "-", row
        if before:
            assert near(row[7], math.log2(2 * math.log2(p) / math.log2(p / 2))), row
        assert operation == "comm_dup" or row[8] == point["algorithm"], row
        before = point
EOF
python3 "$folder/check.py" "$folder/growth.json" "$out" || wrong "the table: $out"
again=$("$bench" --from "$folder/growth.json") || wrong "--from ended with $?"
python3 "$folder/check.py" "$folder/growth.json" "$again" || wrong "--from: $again"
[ "$("$bench" --from "$folder/growth.json" --csv | sed 1d | cut -d, -f1-3 | xargs)" = \
    "$(for ranks in 3 6 12; do printf '%s,%d,%d\n' barrier $ranks 0 bcast $ranks 8 comm_dup $ranks 0; done | xargs)" ] ||
    wrong "--csv: $("$bench" --from "$folder/growth.json" --csv)"
"$bench" --from "$folder/growth.json" --json "$folder/again.json" >/dev/null &&
    cmp -s "$folder/growth.json" "$folder/again.json" || wrong "--from --json is another file"

# Two such files, and one with a single number of ranks, as one comparison.
"$bench" -n 6 "${quick[@]}" --loop --sizes 8:8 --json "$folder/six.json" bcast >/dev/null || wrong "-n 6 ended with $?"
out=$("$bench" --from "$folder/growth.json,$folder/again.json,$folder/six.json") || wrong "--from three files: $?"
[ "$(grep -c '^ranks  *default .* again default ' <<<"$out")" = 3 ] &&
    [ "$(grep -c '^ranks  *default .* again default .* six default ' <<<"$out")" = 1 ] || wrong "three files: $out"
"$bench" --from "$folder/six.json" | grep -q '^bcast, 6 ranks, ' || wrong "a file with a single number of ranks"

# Another MPI: its ratio; it is not started with more ranks after it has failed.
out=$(STARTED=$folder/started FAIL_AT=4 "$bench" -n 1:8 "${quick[@]}" --rounds 2 --against "$theirs" barrier 2>&1)
[ $? = 1 ] || wrong "a failing launcher was accepted: $out"
[ "$(cut -d ' ' -f1 "$folder/started" | xargs)" = "1 1 2 2 4" ] || wrong "started: $(cat "$folder/started")"
[ "$(sed -n 's/^1 //p' "$folder/started" | sort -u)" = core ] || wrong "not bound: $(cat "$folder/started")"
[[ "$out" == *"$theirs, 4 ranks: ended with exit code 3."*"$theirs, 4 ranks: more ranks are not tried."* ]] ||
    wrong "the failure is not reported: $out"
[ "$(grep -c "^ranks  *Tutti  *work  *slope  *$theirs  *work  *slope  *p log p .* $theirs/Tutti$" <<<"$out")" = 1 ] &&
    [ "$(awk '/^ranks/,/^$/ {if ($1 ~ /^[0-9]+$/) print ($5 == "-")}' <<<"$out" | xargs)" = "0 0 1 1" ] ||
    wrong "against: $out"
# Several algorithms.
out=$("$bench" -n 2:4 "${quick[@]}" --rounds 1 --algorithms allreduce:exchange,allreduce:xhc --csv) ||
    wrong "--algorithms: $?"
[ "$(sed 1d <<<"$out" | cut -d, -f1-4 | sort | xargs)" = "$(for ranks in 2 4; do
    printf 'allreduce,%d,8,%s\n' $ranks default $ranks exchange $ranks xhc; done | xargs)" ] ||
    wrong "--algorithms: $out"

for numbers in 8:2 0:4 2: :4 2:x; do
    out=$("$bench" -n $numbers barrier 2>&1) && wrong "-n $numbers was accepted"
    [[ "$out" == *"-n needs a number of ranks such as 4, or numbers such as 2:256, up to 4096, not '$numbers'"* ]] ||
        wrong "-n $numbers: $out"
done
out=$("$bench" -n 2:8 --root 2 bcast 2>&1) && wrong "--root 2 of 2 ranks was accepted"
[[ "$("$bench" --help)" == *"-n N|FROM:TO"* ]] || wrong "--help"

wait $late || wrong "late: $?"
out=$(cat "$folder/late")
[[ "$out" == *"$theirs, 2 ranks: no result within 15 s."*"$theirs, 2 ranks: more ranks are not tried."* ]] &&
    [ "$(cut -d ' ' -f1 "$folder/late_started" | xargs)" = "1 2" ] || wrong "late: $out"
finish
