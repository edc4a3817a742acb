#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti-info: complete lists, values of the environment, and JSON.
. "$(dirname "$0")/../common.sh" "$1"
info=$build/bin/tutti-info

text=$("$info") || wrong "tutti-info ended with $?"
for word in "ABI: MPICH" "Machine:" memfd CMA XPMEM "huge pages" TUTTI_WAIT "Variables" "Algorithms"; do
    [[ "$text" == *"$word"* ]] || wrong "tutti-info does not mention $word"
done

COLUMNS=60 "$info" | sed '/^Facilities/,/^$/!d' > "$folder/facilities"
[ "$(wc -L < "$folder/facilities")" -le 60 ] && grep -q '^  yes  memfd: ' "$folder/facilities" ||
    wrong "the facilities in 60 columns: $(< "$folder/facilities")"

# all algorithms, variables and counters are listed
"$info" --json > "$folder/info.json" || wrong "--json ended with $?"
python3 - "$source" "$folder/info.json" << 'EOF' || wrong "the lists of tutti-info"
import json, re, sys
source, report = sys.argv[1], json.load(open(sys.argv[2]))
algorithms = re.findall(r"^ALGORITHM\((\w+), (\w+)\)", open(source + "/coll/algorithms/algorithms.def").read(), re.M)
settings = source + "/runtime/settings/"
collectives = re.findall(r"^(?:COLLECTIVE|SHARES_ARGUMENTS)\((\w+),", open(settings + "collectives.def").read(), re.M)
variables = []
for line in open(settings + "variables.def"):
    if line.startswith("#include"): variables += ["coll_" + c for c in collectives]
    variables += re.findall(r"^VAR\(\w+, \w+, (\w+),", line)
assert len(collectives) == 13, collectives
listed = [(a["collective"], a["name"]) for a in report["algorithms"]]
assert algorithms and sorted(listed) == sorted(algorithms), (listed, algorithms)
assert [v["name"] for v in report["variables"]] == ["TUTTI_" + v.upper() for v in variables], variables
assert all(a["description"] and a["source"] for a in report["algorithms"])
counters = re.findall(r"^COUNTER\(\w+, \w+, (\w+),", open(source + "/runtime/state/counters.def").read(), re.M)
listed = [c["name"] for c in report["counters"]]
assert counters and listed[:len(counters)] == ["tutti_" + c for c in counters] and "tutti_<collective>_calls" in listed, listed
assert report["usable_cores"] >= 1 and report["memory"] > 0 and report["facilities"]
EOF

# values, origins and misspelt names come from the environment
text=$(TUTTI_WAIT=shared TUTTI_EAGR=3 "$info" --variables)
[[ "$text" == *"TUTTI_WAIT = shared  [environment; default auto]"* ]] || wrong "the origin of a variable: $text"
for pair in WAIT=bogus:auto FRAGMENTS=99:2 HIERARCHY=l9:auto QUIET=maybe:no STAGING=1:65536; do
    name=TUTTI_${pair%%=*} invalid=${pair#*=}; default=${invalid#*:} invalid=${invalid%:*}
    text2=$(env "$name=$invalid" "$info" --variables)
    [[ "$text2" == *"$name = $default  [default; $invalid is invalid and ignored]"*"! $name=$invalid: "* ]] || wrong "$name=$invalid: $text2"
done
TUTTI_WAIT=bogus TUTTI_COPY=temporal TUTTI_COLL=bcast=nix "$info" --variables --json | python3 -c 'import json, sys
report = json.load(sys.stdin)
rows = {v["name"]: (v["value"], v["origin"], v["invalid"]) for v in report["variables"]}
assert rows["TUTTI_WAIT"] == ("auto", "default", "bogus"), rows["TUTTI_WAIT"]
assert rows["TUTTI_COPY"] == ("temporal", "environment", None), rows["TUTTI_COPY"]
assert any("TUTTI_COLL: bcast has no algorithm nix" in d for d in report["diagnostics"]), report["diagnostics"]' ||
    wrong "invalid values in --json"
[[ "$text" == *"TUTTI_EAGR"*"TUTTI_EAGER"* ]] || wrong "a misspelt variable was not reported"
[[ "$text" == *"Algorithms;"* ]] && wrong "--variables lists algorithms"
"$info" --algorithms --json | python3 -c 'import json, sys; assert set(json.load(sys.stdin)) == {"algorithms"}' || wrong "--algorithms --json"

# algorithms of some collectives, and their limits
"$info" --algorithms bcast,allreduce --json --ranks 4 > "$folder/some.json" || wrong "--algorithms bcast,allreduce"
"$info" --algorithms --json --ranks 64 > "$folder/many.json" || wrong "--ranks 64"
python3 - "$folder/info.json" "$folder/some.json" "$folder/many.json" << 'EOF' || wrong "the algorithms' limits"
import json, sys
everything, some, many = (json.load(open(name))["algorithms"] for name in sys.argv[1:])
names = lambda rows: [(a["collective"], a["name"], a["family"]) for a in rows]
assert names(some) == [n for n in names(everything) if n[0] in ("bcast", "allreduce")], names(some)
limits = lambda rows: {(a["collective"], a["name"]): a["most_bytes"] for a in rows}
assert limits(some)["bcast", "slots"] == 8192 and limits(some)["bcast", "hierarchical"] is None, limits(some)
assert limits(many)["bcast", "slots"] == 4096, "64 ranks have smaller slots"
assert all(a["unequal_parts"] for a in some)
EOF
err=$("$info" --algorithms allreduc 2>&1); [ $? = 2 ] && [[ "$err" == *"did you mean allreduce?"* ]] || wrong "a wrong collective: $err"
err=$("$info" --ranks none 2>&1); [ $? = 2 ] && [[ "$err" == *"needs a number of ranks"* ]] || wrong "wrong ranks: $err"

# the choices of a job: requests come first, and deterministic mode ignores the tuning file
printf '# tutti tuning 1\nbcast one_node ranks<=4 linear\n' > "$folder/tuning"
text=$(TUTTI_TUNING=$folder/tuning TUTTI_COLL=bcast=slots,reduce=xbrc TUTTI_COLL_REDUCE=direct "$info" --table)
[[ "$text" == *"Requested for all calls that the algorithm supports:
  bcast           slots  [TUTTI_COLL]
  reduce          direct  [TUTTI_COLL_REDUCE]
Other choices; "*"The tuning file $folder/tuning:
  bcast           one_node        ranks<=4"*linear* ]] || wrong "--table with TUTTI_COLL: $text"
text=$(TUTTI_TUNING=$folder/tuning TUTTI_DETERMINISTIC=1 "$info" --table)
[[ "$text" != *"$folder/tuning"* ]] || wrong "--table in deterministic mode: $text"
text=$(TUTTI_COLL=bcast=nix "$info" --table); [[ "$text" == "! TUTTI_COLL: bcast has no algorithm nix"* ]] || wrong "--table with an invalid request: $text"

# the time of a call in the model of messages: (1 + alpha) messages between two sockets, and one inside
export TUTTI_TOPOLOGY="socket:2 core:2" TUTTI_COLL=bcast=mpich_hierarchical
text=$("$info" --why bcast --bytes 1000 -n 4 --message-times 0.5:0.001,2:0.004) || wrong "--message-times ended with $?"
[[ $(tr -s ' \n' ' ' <<< "$text") == *"time in the model of messages: "*"= 9.500 us"* ]] || wrong "--message-times: $text"
time_of() { "$info" --json --why bcast --bytes 1000 -n 4 "$@" | python3 -c 'import json, sys; print(json.load(sys.stdin)["time"])'; }
[ "$(time_of --message-times 0.5:0.001,2:0.004,0.5)" = 10.5 ] || wrong "another alpha: $(time_of --message-times 0.5:0.001,2:0.004,0.5)"
[ "$(time_of)" = None ] || wrong "a time without messages: $(time_of)"
[ "$(time_of --nodes 4 --message-times 0.5:0.001,2:0.004,0.5)" = 18.0 ] || wrong "four nodes: $(time_of --nodes 4 --message-times 0.5:0.001,2:0.004,0.5)"
# an algorithm that ignores nodes sends between them
for flat in "$TUTTI_COLL:hierarchy=flat" bcast=binomial; do
    for nodes in 1 2; do
        time=$(TUTTI_COLL=$flat time_of --nodes $nodes --message-times 0.5:0.001,2:0.004)
        [ "$time" = 12.0 ] || wrong "$flat on $nodes nodes: $time"
    done
done
unset TUTTI_TOPOLOGY TUTTI_COLL
text=$("$info" --algorithms bcast)
[[ $(tr -s ' \n' ' ' <<< "$text") == *"binomial: "*"time in the model of messages: log2(p)*t(s)"* ]] || wrong "no formula of time: $text"
err=$("$info" --why bcast --message-times 1:2 2>&1); [ $? = 2 ] && [[ "$err" == *"needs times such as"* ]] || wrong "a wrong --message-times: $err"

# CMA is tested by a call
[[ $("$forbid" cma -- "$info") == *"no   CMA (Operation not permitted)"* ]] || wrong "forbidden CMA was not noticed"
for what in mbind policies; do
    [[ $("$forbid" $what -- "$info") == *"no   placing memory on NUMA nodes ("* ]] || wrong "$what: memory is placed although this is forbidden"
done
what=tutti-info; expect_nothing_left

err=$("$info" --algoritms 2>&1); [ $? = 2 ] || wrong "a wrong option ended with another code than 2"
[[ "$err" == *"did you mean --algorithms?"* ]] || wrong "a wrong option: $err"
finish
