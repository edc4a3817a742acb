#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# --stats counts the access paths of data: each path is forced once, and only this one may be counted.
. "$(dirname "$0")/../common.sh" "$1"
mover=$build/tests/ranks_launcher_mover
is_sanitized && skip "under a sanitizer large blocks do not lie in arenas"

# column NUMBER: the value in this column (from 1) of the line for all ranks in the first table, in bytes or as a number
column() { awk -v c="$1" '$1 == "all" { i = 2; for (k = 1; k < c; ++k) i += $(i + 1) ~ /B$/ ? 2 : 1; print $i; exit }' <<< "$err"; }
arenas=1 cma=3 staged=4 maps=5 hits=6 unmaps=7 most=9
some() { local v; v=$(column "${!1}"); [ -n "$v" ] && [ "$v" != 0 ] || wrong "$what counted nothing as $1: $err"; }
none() { [ "$(column "${!1}")" = 0 ] || wrong "$what counted something as $1: $err"; }

run -n 3 --stats "$mover"; expect_code 0
[ "$(grep -cE '^ +[0-9]' <<< "$err")" = 9 ] || wrong "not a line for each rank in three tables: $err"
some arenas; none cma; none staged; some maps; some hits; none unmaps; some most
run -n 3 "$mover"; expect_code 0; expect_silence

can_cma=yes; [[ $("$build/bin/tutti-info") == *"no   CMA"* ]] && can_cma=
if [ -n "$can_cma" ]; then
    run -n 3 --stats -genv TUTTI_ARENA no "$mover"; expect_code 0; some cma; none arenas; none maps; none most
    run -n 3 --stats "$mover" static; expect_code 0; some cma; none arenas
fi
run -n 3 --stats -genv TUTTI_ARENA no -genv TUTTI_CMA no "$mover"; expect_code 0; none cma; none arenas; some staged
run -n 3 --stats -genv TUTTI_CMA no "$mover" static; expect_code 0; none cma; none arenas; some staged
run -n 3 --stats -genv TUTTI_CMA no "$mover"; expect_code 0; none cma; none staged; some arenas
# location of the memory: a table if there are several NUMA nodes, else one line
placed=; [[ $("$build/bin/tutti-info") == *"yes  placing memory on NUMA nodes"* ]] && placed=yes
run -n 3 --stats --bind-to core "$mover"; expect_code 0
if [ -n "$placed" ]; then expect_err "NUMA nodes of the ranks' memory, as reported by the kernel"
else expect_err "Memory: there is only one NUMA node"; fi
run -n 2 --show-hierarchy; expect_code 0; [[ $out == *"Memory: "* ]] || wrong "$what does not say where memory lies: $out"
# collectives by communicator and algorithm, without those of MPI_Finalize
line() { grep -E "^ +MPI_COMM_WORLD +$1 +$2 +$3 +$4 +$5 " <<< "$err" > /dev/null || wrong "$what has no line $*: $err"; }
run -n 3 --stats -genv TUTTI_COLL bcast=hierarchical:chunk=32K,allreduce=blocks "$mover"; expect_code 0
line bcast hierarchical:chunk=32K 3 4 "1.0 MiB"
line allreduce blocks 3 4 "1.0 MiB"
[[ $err != *" barrier "* ]] || wrong "MPI_Finalize's barriers are counted: $err"
[[ $err != *"calls of windows"* ]] || wrong "there are no windows: $err"
# windows by name and operation
of_window() { grep -E "^ +$1 +2 +$2 +" <<< "$err" > /dev/null || wrong "$what has no line $* of a window: $err"; }
run -n 2 --stats "$build/tests/ranks_rma_epochs"; expect_code 0; expect_err "Time in calls of windows"
of_window "allocated +put +load and store" "12 +256 B"
of_window "allocated +fence" 10
run -n 1 --stats true; expect_code 0; expect_err "No rank called a collective."
# the same as JSON, on standard error or in a file
run -n 3 --stats=json -genv TUTTI_COLL bcast=hierarchical:chunk=32K,allreduce=blocks "$mover"; expect_code 0
printf '%s' "$err" > "$folder/stats.json"
cat > "$folder/check.py" <<'EOF'
import json, sys
tables = json.load(open(sys.argv[1]))
assert list(tables) == ["program", "access_paths", "traffic", "phases", "waiting", "memory", "collectives", "windows"], tables
for name in ("access_paths", "traffic", "waiting"):
    assert [row["rank"] for row in tables[name]] == [0, 1, 2], tables[name]
assert sum(row["arena_bytes"] for row in tables["access_paths"]) > 0 and not any(row["cma_bytes"] for row in tables["access_paths"])
assert all(row["run_time_ns"] >= row["waited_ns"] > 0 and row["loaded_bytes"] > 0 for row in tables["traffic"]), tables
assert all(row["polled_ns"] + row["slept_ns"] > 0 for row in tables["waiting"]), tables
assert all(row["state_pages"] >= row["state_pages_on_node"] >= 0 for row in tables["memory"]), tables
rows = {(row["communicator"], row["collective"], row["algorithm"]): row for row in tables["collectives"]}
row = rows["MPI_COMM_WORLD", "bcast", "hierarchical:chunk=32K"]
assert (row["ranks"], row["calls"], row["bytes"]) == (3, 4, 1 << 20) and 0 < row["share"] < 1, row
assert 0 < row["mean_ns"] <= row["most_ns"] and 0 < row["longest_ns"] <= row["most_ns"], row
assert ("MPI_COMM_WORLD", "allreduce", "blocks") in rows and tables["windows"] == [], tables
EOF
python3 "$folder/check.py" "$folder/stats.json" || wrong "$what: $err"
run -n 2 --stats=json "$build/tests/ranks_rma_epochs"; expect_code 0
python3 -c 'import json, sys
row, = [row for row in json.load(sys.stdin)["windows"] if (row["window"], row["operation"]) == ("allocated", "put")]
assert (row["path"], row["ranks"], row["calls"], row["bytes"]) == ("load and store", 2, 12, 256), row' <<< "$err" || wrong "$what: $err"
for once in new again; do   # an earlier output is replaced
    run -n 3 --stats=json:"$folder/file.json" -genv TUTTI_COLL bcast=hierarchical:chunk=32K,allreduce=blocks "$mover"; expect_code 0
    [ "$err" = "mpiexec: $folder/file.json contains the statistics." ] || wrong "$what ($once): $err"
    python3 "$folder/check.py" "$folder/file.json" || wrong "$what ($once): $(cat "$folder/file.json")"
done
echo mine > "$folder/mine"
for refused in "/nowhere/file cannot be written: the folder /nowhere does not exist" "$folder is a folder; name a file in it" \
    "$folder/mine exists and was not written by mpiexec --stats=json; remove it or choose another name"; do
    run -n 2 --stats=json:"${refused%% *}" echo started
    [ "$code" != 0 ] && [ -z "$out" ] && [ "$err" = "mpiexec: --stats=json: $refused." ] || wrong "$what: $code $out $err"
done
[ "$(cat "$folder/mine")" = mine ] || wrong "a file that mpiexec has not written was overwritten"
for word in text json: ""; do
    run -n 2 --stats="$word" true; expect_err "--stats needs json or json:FILE after =, not '$word'"
done
# also if the job fails
run -n 2 --stats "$rank" init exit 3; expect_code 3; expect_err "Bytes received"
finish
