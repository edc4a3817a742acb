#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti-bench on two hosts: messages inside and between them, phases, and the models of algorithms with masters, which a
# tutti-bench without mpiexec adds to the results.
. "$(dirname "$0")/common.sh" "$1"
hosts_up 2
read -r first second <<<"${hosts[*]}"

settings="TUTTI_COLL=allreduce=mpich_hierarchical"
run -hosts "$first:2,$second:2" -n 4 "$build/bin/tutti-bench" --model --phases --sizes 64:64 --iterations 20 --seconds 0.2 \
    --json "$scratch/results.json" --hint tutti_coll=bcast=mpich_hierarchical:form=whole allreduce bcast
expect_code 0
[[ $out == *"a message takes "*" inside a node, "*" between nodes"* ]] || wrong "$what: $out"
TUTTI_COLL=allreduce=mpich_hierarchical "$build/bin/tutti-bench" --from "$scratch/results.json" \
    --json "$scratch/models.json" >"$scratch/out" || wrong "--from ended with $?"
python3 - "$scratch/models.json" <<'EOF' || wrong "the results: $(cat "$scratch/models.json")"
import json, sys
results = json.load(open(sys.argv[1]))
assert results["nodes"] == 2, results
t = lambda which, n: results[which]["latency"] + n * results[which]["per_byte"]
points = {(s["name"], p["operation"]): p for s in results["series"] for p in s["points"]}
for key in (("default", "allreduce"), ("bcast=mpich_hierarchical:form=whole", "bcast")):
    p = points[key]
    assert p["algorithm"] == "mpich_hierarchical" and p["before"] > 0 and p["between"] > 0 and p["after"] > 0, p
expected = {("default model", "allreduce"): 2 * t("inside", 64) + t("between", 64),
            ("bcast=mpich_hierarchical:form=whole model", "bcast"): t("inside", 64) + t("between", 64)}
for key, time in expected.items():
    assert abs(points[key]["median"] - time) < 0.01, (key, points[key], time)
EOF
expect_nothing_left
finish
