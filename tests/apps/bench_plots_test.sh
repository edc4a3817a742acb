#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The figures of tutti-bench, drawn by gnuplot: algorithms, growth with the number of ranks, one-sided operations.
# cores: 1
. "$(dirname "$0")/common.sh" "$1"
need_package gnuplot-nox gnuplot
bench=$build/bin/tutti-bench
quick=(--seconds 0.01 --timeout "$limit_s")

"$bench" -n 2 "${quick[@]}" --rounds 2 --algorithms bcast,reduce_scatter --sizes 2K:16K --limit --json "$folder/all.json" >/dev/null ||
    wrong "--algorithms ended with $?"
"$bench" --from "$folder/all.json" --plot "$folder/out.svg" >/dev/null 2>&1 || wrong "--plot ended with $?"
"$bench" -n 2 "${quick[@]}" --sizes 8:64 --limit --plot "$folder/one.svg" scatter >/dev/null 2>&1 || wrong "--plot alone: $?"
python3 - "$folder" <<'EOF' || wrong "the plots"
import sys, xml.etree.ElementTree as tree
def words(name):
    root = tree.parse(sys.argv[1] + "/" + name).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg", root.tag
    assert not [e for e in root.iter() if e.tag.endswith("image")], "not self-contained"
    return ["".join(e.itertext()).strip() for e in root.iter("{http://www.w3.org/2000/svg}text")]
for name, series in (("out-bcast.svg", ("slots", "hierarchical", "limit", "4 KiB")),
                     ("out-reduce_scatter.svg", ("default (slots, direct)", "direct", "blocks", "limit", "time / default")),
                     ("one.svg", ("default (receiver_reading)", "limit", "time of a call (µs)", "message size"))):
    there = words(name)
    assert all(word in there for word in series), (name, there)
    assert any(word.startswith("default (") and word.endswith(")") for word in there), (name, there)
EOF

"$bench" -n 3:20 "${quick[@]}" --warmup 2 --rounds 1 --loop --json "$folder/growth.json" barrier bcast comm_dup >/dev/null ||
    wrong "-n 3:20 ended with $?"
"$bench" --from "$folder/growth.json" --json "$folder/again.json" >/dev/null || wrong "--from --json ended with $?"
"$bench" -n 6 "${quick[@]}" --loop --sizes 8:8 --json "$folder/six.json" bcast >/dev/null || wrong "-n 6 ended with $?"
"$bench" --from "$folder/growth.json" --plot "$folder/growth.svg" >/dev/null 2>&1 || wrong "--plot ended with $?"
"$bench" --from "$folder/growth.json,$folder/again.json" --plot "$folder/two.svg" >/dev/null 2>&1 ||
    wrong "--plot of two: $?"
python3 - "$folder" <<'EOF' || wrong "the plots: $(ls "$folder")"
import sys, xml.etree.ElementTree as tree
def words(name):
    root = tree.parse(sys.argv[1] + "/" + name).getroot()
    return ["".join(e.itertext()).strip() for e in root.iter("{http://www.w3.org/2000/svg}text")]
for name, wanted in (("growth.svg", ("barrier", "bcast 8 B", "comm_dup", "p log p", "ranks p", "3", "12",
                                  "time of a call in a loop (µs)", "work per rank (µs)")),
                     ("two-barrier.svg", ("default", "again default", "p log p")),
                     ("two-bcast-8.svg", ("default", "again default", "p log p"))):
    there = words(name)
    assert all(word in there for word in wanted), (name, there)
EOF
"$bench" --from "$folder/six.json" --plot "$folder/six.svg" 2>&1 | grep -q 'more than one size' ||
    wrong "a plot of one size"

"$mpiexec" -n 2 "$bench" --seconds 0.02 --json "$folder/out.json" --sizes 8:16 --sync lock --limit put fetch_and_op >/dev/null || wrong "--json"
"$build/bin/tutti-bench" --from "$folder/out.json" --plot "$folder/put.svg" >/dev/null 2>&1 || wrong "--plot: $?"
grep -q 'message size; windows by MPI_Win_create, synchronised by lock' "$folder/put.svg" || wrong "the labels of the plot"
finish
