#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti-bench without mpiexec: compares algorithms, settings and MPIs, as table, CSV and JSON. Times are not checked.
# cores: 2
. "$(dirname "$0")/common.sh" "$1"
bench=$build/bin/tutti-bench
quick=(-n 2 --seconds 0.01 --rounds 2 --timeout 300)   # long enough on a busy machine

# Without mpiexec it starts the ranks itself.
out=$("$bench" -n 3 --sizes 8:16 --seconds 0.01 bcast) || wrong "a plain run ended with $?"
[[ "$out" == "3 ranks, Tutti"*$'\n'"2 measurements of at most 1000 iterations and 0.01 s each"* ]] || wrong "not three ranks: $out"

# The bytes of a call, as counted, equal the formula of each algorithm. Buffers of this size are in arenas.
out=$("$bench" -n 3 --seconds 0.001 --rounds 1 --timeout 300 --algorithms bcast,reduce_scatter,gather,alltoall \
    --sizes 24K:24K --bytes-per-call) || wrong "--bytes-per-call ended with $?"
python3 - "$out" <<'EOF' || wrong "the bytes per call: $out"
import sys
rows = [line.split(None, 4) for line in sys.argv[1].split("bytes that all ranks load and store", 1)[1].splitlines()]
rows = [row for row in rows if len(row) == 5 and row[1] == str(24 << 10)]
assert len(rows) > 35, len(rows)
assert all(row[2] == row[3] for row in rows), [row for row in rows if row[2] != row[3]]
EOF

# All algorithms of a collective, without a time where the algorithm does not support the call.
out=$("$bench" "${quick[@]}" --algorithms bcast,reduce_scatter --sizes 2K:16K --limit --json "$folder/all.json") ||
    wrong "--algorithms ended with $?"
"$build/bin/tutti-info" --algorithms bcast,reduce_scatter --json >"$folder/info.json"
python3 - "$folder" "$out" <<'EOF' || wrong "the comparison of algorithms: $out"
import json, sys
folder, out = sys.argv[1:]
known = [a for a in json.load(open(folder + "/info.json"))["algorithms"] if not a["two_groups"] and a["one_node"]]
series = json.load(open(folder + "/all.json"))["series"]
points = {(s["name"], p["operation"], p["bytes"]): p for s in series for p in s["points"]}
sizes = (2048, 4096, 8192, 16384)
for a in known:
    for size in sizes:
        message = size * (2 if a["collective"] == "reduce_scatter" else 1)
        can = a["most_bytes"] is None or message <= a["most_bytes"]
        assert ((a["name"], a["collective"], size) in points) == can, (a["name"], a["collective"], size)
for operation in ("bcast", "reduce_scatter"):
    for size in sizes:
        for name in ("default", "limit"):
            assert points[name, operation, size]["least"] > 0
assert {s["name"] for s in series} == {a["name"] for a in known} | {"default", "limit"}, series
families = {(a["name"], a["family"]) for a in known}
assert families == {(s["name"], s["family"]) for s in series if s["family"]}, series
def cell(row, column):   # columns end below their heads
    lines = out.splitlines()
    head = next(i for i, line in enumerate(lines) if line.split()[:1] == ["bytes"] and " " + column + " " in line + " ")
    line = next(line for line in lines[head:] if line.split()[:1] == [row])
    return line[:(lines[head] + " ").index(" " + column + " ") + len(column) + 1].split()[-1]
# These algorithms are too many for 120 columns: they are rows.
assert max(map(len, out.splitlines())) <= 120, out
assert cell("slots", "16384") == "-" and float(cell("hierarchical", "16384")) > 0
assert cell("16384", "default ran") == points["default", "bcast", 16384]["algorithm"] == "hierarchical", out
for (name, _, _), p in points.items():
    assert name in ("default", "limit") or p["algorithm"] == name, (name, p)
assert float(cell("16384", "default/best")) >= 1, "the default is no faster than the best"
EOF

# One algorithm with a parameter, and a setting; as CSV.
out=$("$bench" "${quick[@]}" --algorithms bcast:hierarchical:chunk=4K --with "TUTTI_EAGER=4K TUTTI_SHARE=8K" \
    --csv --sizes 8K:16K bcast pingpong 2>"$folder/err") || wrong "--with ended with $?"
[[ "$(cat "$folder/err")" == "Measures pingpong, bcast with 2 ranks on "*$'\n'"Measured in turn, in 2 rounds: default, 1 algorithm, "* ]] ||
    wrong "no introduction on standard error: $(cat "$folder/err")"
[ "$(head -n 1 <<<"$out")" = "$("$bench" --help | tr -d ' \n' | grep -o 'operation,ranks,bytes,[a-z_,]*,ideal')" ] ||
    wrong "the columns of --csv are not those of the help: $out"
grep -qxF "$(head -n 1 <<<"$out")" "$source/apps/bench/README.md" || wrong "the columns of --csv are not those of the README"
[ "$(sed 1d <<<"$out" | cut -d, -f1-4 | sort | xargs)" = "$(for name in "TUTTI_EAGER=4K TUTTI_SHARE=8K" default; do
    printf '%s,2,%s,%s\n' bcast 16384 "$name" bcast 8192 "$name" pingpong 16384 "$name" pingpong 8192 "$name"
done | cat - <(printf 'bcast,2,%s,hierarchical:chunk=4K\n' 16384 8192) | sort | xargs)" ] || wrong "--with: $out"

# Models of algorithms beside their times, as tutti-info evaluates them with the messages that were measured: a series for
# each algorithm that states its time, also from a file, with another alpha.
export TUTTI_TOPOLOGY="socket:2 core:2"
form=mpich_hierarchical:form=whole
out=$("$bench" -n 4 --seconds 0.01 --rounds 2 --timeout 300 --model --algorithms "bcast:mpich_hierarchical,bcast:$form,bcast:slots" \
    --sizes 64:64 --json "$folder/model.json") || wrong "--model ended with $?"
[[ "$out" == *"model: a message takes "*"; alpha 0.33"$'\n'* && "$out" == *" $form/model"* ]] || wrong "--model: $out"
model_is() { # ALPHA FILE: the models in the file are those with this alpha
    python3 - "$build/bin/tutti-info" "$1" "$2" <<'EOF'
import json, os, subprocess, sys
info, alpha, file = sys.argv[1:]
results = json.load(open(file))
times = ",".join("%.9g:%.9g" % (results[w]["latency"], results[w]["per_byte"]) for w in ("inside", "between"))
names = [s["name"] for s in results["series"]]
models = [n for n in names if n.endswith(" model")]
assert models == ["mpich_hierarchical model", "mpich_hierarchical:form=whole model"], names
assert all(names[names.index(m) - 1] == m[:-len(" model")] for m in models), names
for series in results["series"]:
    if series["name"] not in models: continue
    os.environ["TUTTI_COLL"] = "bcast=" + series["name"][:-len(" model")]
    why = json.loads(subprocess.check_output([info, "--json", "--why", "bcast", "--bytes", "64", "-n", "4",
                                              "--message-times", times + "," + alpha]))
    assert [p["bytes"] for p in series["points"]] == [64]
    assert abs(series["points"][0]["median"] - why["time"]) < 0.002 and why["time"] > 0, (series, why)
assert abs(results["alpha"] - float(alpha)) < 0.001, results["alpha"]
EOF
}
model_is 0.333333333 "$folder/model.json" || wrong "the models: $(cat "$folder/model.json")"
"$bench" --from "$folder/model.json" --alpha 1 --json "$folder/model1.json" >/dev/null && model_is 1 "$folder/model1.json" ||
    wrong "the models with another alpha: $(cat "$folder/model1.json")"
out=$("$bench" -n 4 --seconds 0.01 --rounds 1 --timeout 300 --phases --algorithms "bcast:$form,bcast:slots" --sizes 64:64) ||
    wrong "--phases ended with $?"
[[ "$out" == *"$form between %"*"$form ideal"* && "$out" != *"slots ideal"* ]] || wrong "--phases: $out"
unset TUTTI_TOPOLOGY

# Another MPI, whose launcher is Tutti's; with RUN_AWAY its processes form a session of their own and never end.
mkdir "$folder/bin"
cat >"$folder/bin/mpicxx" <<EOF
#!/bin/sh
for file; do :; done   # the last word
cp "$bench" "\$file"
EOF
cat >"$folder/bin/mpiexec" <<EOF
#!/bin/sh
echo "\$*" >>"$folder/started"
[ -z "\$RUN_AWAY" ] || { setsid sleep $nap & sleep $nap; }
exec "$build/bin/mpiexec" "\$@"
EOF
chmod +x "$folder"/bin/*
out=$("$bench" "${quick[@]}" --against "$folder/bin/mpicxx" --sizes 8:32 --json "$folder/against.json" bcast barrier 2>&1) ||
    wrong "--against ended with $?"
[ "$(grep -c "^ *bytes .*bin/mpicxx/Tutti$" <<<"$out")" = 2 ] && grep -q "^geometric mean .*[0-9]$" <<<"$out" ||
    wrong "no ratios: $out"
[ "$(cut -d ' ' -f1-3 "$folder/started" | sort -u)" = "-n 2 -bind-to" ] || wrong "not bound: $(cat "$folder/started")"
out=$(RUN_AWAY=1 "$bench" "${quick[@]}" --against "$folder/bin/mpicxx" --timeout 1 --sizes 8:8 bcast 2>&1) || wrong "late: $?"
[[ "$out" == *"no result within 1 s"* ]] || wrong "a launcher that never ends: $out"
what="tutti-bench with a launcher that never ends"; expect_nothing_left

# Stopped and continued, as by Ctrl-Z and fg, it still waits for its child processes.
"$bench" "${quick[@]}" --rounds 1 --seconds 0.1 --csv --with TUTTI_EAGER=4K --sizes 8:128 bcast >"$folder/stopped" 2>&1 &
for i in 1 2 3; do sleep 0.2; kill -STOP $!; sleep 0.05; kill -CONT $!; done 2>/dev/null
wait $! && [ "$(grep -c '^bcast,2,128,' "$folder/stopped")" = 2 ] || wrong "stopped and continued: $(cat "$folder/stopped")"

# A column for the roots.
out=$("$bench" "${quick[@]}" --rounds 1 --with TUTTI_EAGER=4K --root each --sizes 64:64 gather) || wrong "--root each: $?"
[[ "$out" == *"default's roots"* ]] || wrong "no column for the roots: $out"

# The best published algorithm, which may not be the fastest one.
sed 's/"family": "[^"][^"]*"/"family": "Tutti"/; /"name": "hierarchical"/s/"family": "Tutti"/"family": "XHC"/' \
    "$folder/all.json" >"$folder/published.json"
out=$("$bench" --from "$folder/published.json") || wrong "published: $?"
[ "$(grep -c '^ *bytes .* best published  default/best published$' <<<"$out")" = 1 ] &&
    [ "$(grep -c '^ *[0-9]* .* hierarchical  *[0-9.]*$' <<<"$out")" = 4 ] || wrong "no best published algorithm: $out"

# Overlap, compared with another MPI; a call that this MPI lacks is reported.
out=$("$bench" "${quick[@]}" --against "$folder/bin/mpicxx" --overlap --sizes 8:16 --json "$folder/overlap.json" \
    ibcast ibarrier 2>&1) || wrong "--overlap ended with $?"
[ "$(grep -c "^ *bytes .*Tutti hidden %  $folder/bin/mpicxx hidden %$" <<<"$out")" = 2 ] || wrong "--overlap: $out"
python3 - "$folder/overlap.json" <<'EOF' || wrong "--overlap: $(cat "$folder/overlap.json")"
import json, sys
results = json.load(open(sys.argv[1]))
theirs = results["series"][1]
theirs["lacks"], theirs["points"] = ["ibarrier"], [p for p in theirs["points"] if p["operation"] == "ibcast"]
assert all(0 <= p["hidden"] <= 100 for s in results["series"] for p in s["points"])
json.dump(results, open(sys.argv[1], "w"))
EOF
out=$("$bench" --from "$folder/overlap.json") || wrong "lacks: $?"
[ "$(grep -A2 "^ibarrier" <<<"$out" | tail -n 1)" = "$folder/bin/mpicxx does not have this call." ] &&
    [ "$(grep -c "does not have" <<<"$out")" = 1 ] || wrong "lacks: $out"
"$bench" --from "$folder/overlap.json,$folder/all.json" 2>&1 | grep -q "only one has overlap" || wrong "mixed overlap"

# Loops, compared with another MPI and the limit, as table and CSV.
out=$("$bench" "${quick[@]}" --against "$folder/bin/mpicxx" --limit --loop --sizes 8:16 --json "$folder/loop.json" \
    barrier scan 2>&1) || wrong "--loop ended with $?"
theirs=$folder/bin/mpicxx
[ "$(grep -c "^ *bytes  *Tutti  *$theirs  *limit  *Tutti loop  *$theirs loop  *limit loop .* $theirs/Tutti  *\
Tutti/limit  *$theirs/Tutti loop  *Tutti/limit loop$" <<<"$out")" = 2 ] &&
    [ "$(grep -c "less the clock's 0.[0-9]*; and in loops of calls$" <<<"$out")" = 2 ] || wrong "--loop: $out"
[ "$("$bench" --from "$folder/loop.json" --csv | columns loop | grep -c '^[0-9]')" = 9 ] || wrong "--loop --csv"
"$bench" --from "$folder/loop.json,$folder/against.json" 2>&1 | grep -q "only one has loops" || wrong "mixed loops"

# The algorithms of a collective also execute its nonblocking and persistent forms.
out=$("$bench" "${quick[@]}" --algorithms iallreduce:exchange,allreduce_init:exchange --csv --sizes 8:8) ||
    wrong "algorithms of nonblocking forms: $?"
[ "$(sed 1d <<<"$out" | cut -d, -f1-4 | sort | xargs)" = "allreduce_init,2,8,default allreduce_init,2,8,exchange \
iallreduce,2,8,default iallreduce,2,8,exchange" ] || wrong "algorithms of nonblocking forms: $out"

# --from prints existing results.
out=$("$bench" --from "$folder/all.json,$folder/against.json" --csv) || wrong "--from ended with $?"
grep -q "^bcast,2,16,Tutti," <<<"$out" && grep -q "^bcast,2,2048,slots," <<<"$out" || wrong "--from: $out"
expect_error() {
    local text=$1 err
    err=$("${@:2}" 2>&1 >/dev/null)
    [ $? = 2 ] && [[ "$err" == *"tutti-bench: $text"* ]] || wrong "${*:3}: not '$text' but '$err'"
}
expect_error "there is no operation bcats; did you mean bcast?" "$bench" --algorithms bcats
expect_error "bcast has no algorithm slosts; did you mean slots?" "$bench" --algorithms bcast:slosts
expect_error "bcast has no algorithm nix; it has slots, " "$bench" --algorithms bcast:nix
expect_error "in bcast:hierarchical:chink=4K, hierarchical has no parameter chink; it has chunk, " \
    "$bench" --algorithms bcast:hierarchical:chink=4K
expect_error "--algorithms: chunk=x: expected " "$bench" -n 2 --rounds 1 --sizes 8:8 --algorithms bcast:hierarchical:chunk=x
expect_error "pingpong has no algorithms to choose from" "$bench" --algorithms pingpong
expect_error "--with needs settings such as TUTTI_EAGER=4K, not 'x'." "$bench" --with x
expect_error "--with 'TUTTI_EGER=4K': TUTTI_EGER is not a variable of Tutti; did you mean TUTTI_EAGER?" \
    "$bench" --with TUTTI_EGER=4K
expect_error "there is no mpicxx.mpich in PATH; Debian's packages mpich and libmpich-dev have it." \
    env PATH=/nowhere "$bench" --against mpich
expect_error "--against $folder/nothing: there is no such file." "$bench" --against "$folder/nothing"
touch "$folder/text"
expect_error "--against $folder/text: this file is not executable." "$bench" --against "$folder/text"
legend=$(COLUMNS=60 "$bench" -n 2 --rounds 1 --sizes 8:8 --seconds 0.01 --algorithms bcast:xhc,bcast:chain 2>&1 | sed -n '/^Algorithms for/,/^$/p')
[ "$(wc -L <<<"$legend")" -le 60 ] && [[ "$legend" == *"  xhc  "*"[XHC: "* ]] || wrong "the legend in 60 columns: $legend"
expect_error "--plot draws with gnuplot, which is not in PATH; Debian's package gnuplot-nox has it." \
    env PATH=/nowhere "$bench" --plot a.svg bcast
expect_error "--plot needs the name of an SVG file, not 'a.png'." "$bench" --plot a.png bcast
expect_error "--rounds needs a whole number from 1 to 1000, not '0'." "$bench" --rounds 0 bcast
expect_error "cannot read $folder/none.json: " "$bench" --from "$folder/none.json"
expect_error "$0 is not what tutti-bench --json writes." "$bench" --from "$0"
expect_error "--from shows existing results" "$bench" --from "$folder/all.json" bcast
"$build/bin/mpiexec" -n 2 "$bench" --algorithms bcast 2>&1 | grep -q "tutti-bench -n N ...', without mpiexec" ||
    wrong "--algorithms under mpiexec"
[[ "$("$bench" --help)" == *"--against LIST"*"--sizes FROM:TO"*"Operations"* ]] || wrong "--help is not complete"
# alone in a folder
mkdir "$folder/alone"
cp "$build/bin/tutti-bench" "$folder/alone/"
err=$("$folder/alone/tutti-bench" -n 2 --algorithms bcast --sizes 8:8 2>&1); [ $? = 2 ] || wrong "without tutti-info: $err"
[[ "$err" == *"$folder/alone/tutti-info is missing, which lists the algorithms"* ]] || wrong "without tutti-info: $err"
finish
