#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti-info --why explains the choice that a job makes: on one node, with more ranks than cores, on simulated machines
# and on several nodes.
. "$(dirname "$0")/../nodes/nodes_common.sh" "$1"
info=$build/bin/tutti-info bench=$build/bin/tutti-bench
unset TUTTI_COLL TUTTI_TOPOLOGY
export TUTTI_TUNING=none

# explained WORDS: the setting that --why names
explained() { "$info" --why "$@" | sed -nE 's/^It runs ([^ ]+) .*/\1/p'; }
# runs COLLECTIVE BYTES: the settings that the last job has counted
runs() { sed -nE "s/^ +MPI_COMM_WORLD +$1 +([^ ]+) .*/\1/p" <<< "$err" | sort -u | xargs; }
# compare RANKS NODES HOSTS: all collectives at several sizes
compare() {
    local size collective ran explained collectives=(bcast reduce allreduce gather scatter allgather alltoall scan exscan)
    for size in 8 2048 65536; do
        local job=(-n "$1" --stats "$bench" --iterations 1 --warmup 0 --no-check --sizes "$size:$size" "${collectives[@]}")
        if [ "$2" = 1 ]; then run "${job[@]}"; else on "$3" "${job[@]}"; fi
        expect_code 0
        for collective in "${collectives[@]}"; do
            # The benchmark itself reduces its times; the call that it measured is among those that were counted.
            ran=$(runs "$collective") explained=$(explained "$collective" --bytes "$size" -n "$1" --nodes "$2")
            [ -n "$explained" ] && [[ " $ran " == *" $explained "* ]] ||
                wrong "$collective of $size bytes on $1 ranks of $2 nodes ran '$ran', not '$explained'"
        done
    done
}
compare 2 1
compare 6 1
TUTTI_COLL=allreduce=rg:degree=3,bcast=slots compare 3 1
printf '# tutti tuning 1\nallreduce one_node ranks<=4 bytes<=4K dpml\nreduce levels>=2 xhc\n' > "$folder/tuning"
TUTTI_TUNING=$folder/tuning compare 4 1
TUTTI_TOPOLOGY="socket:2 core:2" compare 4 1
TUTTI_TOPOLOGY="socket:2 numa:2 core:2" TUTTI_TUNING=$folder/tuning compare 8 1
TUTTI_DETERMINISTIC=1 TUTTI_TUNING=$folder/tuning compare 4 1
compare 4 2 $two
compare 2 2 127.0.0.2:1,127.0.0.3:1

# what the text says
text=$(TUTTI_TUNING=$folder/tuning TUTTI_COLL=bcast=slots TUTTI_TOPOLOGY="socket:2 core:2" "$info" --why bcast --bytes 64K -n 4)
[[ "$text" == "The call: bcast of 64K bytes on 4 ranks of one node"*"It runs hierarchical [coll/choice/table.def:"*"chunk = 64K: "*"
    bytes loaded and stored: 2*(p - 1 + (1 - copyable)*leaders)*s = 393216
Passed over before it:
  slots [TUTTI_COLL]: accepts messages of at most 8K bytes
  slots [coll/choice/table.def:"*"]: is for at most 2 ranks and 8191 bytes
  hierarchical [coll/choice/table.def:"*"]: is for at most 2 ranks
  hierarchical_slots [coll/choice/table.def:"*"]: is for at most 8K bytes"* ]] || wrong "--why as text: $text"
row=$(grep -oE 'table.def:[0-9]+' <<< "$text" | head -1 | cut -d: -f2)
[[ $(sed -n "${row}p" "$source/coll/choice/table.def") == "ROW(bcast, one_node, any, 1, any, hierarchical)" ]] || wrong "the row of the table: $row"
text=$(TUTTI_TUNING=$folder/tuning "$info" --why allreduce --bytes 4K -n 4 --op noncommutative)
[[ "$text" == *"It runs dpml [$folder/tuning:2]"* ]] || wrong "--why with a tuning file: $text"
text=$(TUTTI_COLL=allreduce=movement_avoiding "$info" --why allreduce --bytes 4K -n 4 --op noncommutative)
[[ "$text" == *"movement_avoiding [TUTTI_COLL]: needs a commutative operator"* ]] || wrong "--why of another operator: $text"
[ "$(TUTTI_COLL=alltoall=bruck explained alltoall -n 4)" = bruck ] || wrong "a request"
[ "$(TUTTI_COLL=alltoall=bruck explained alltoall -n 4 --unequal)" = rotated ] || wrong "parts of unequal size"
[ "$("$info" --json --why bcast --bytes 1M | python3 -c 'import json, sys; print(json.load(sys.stdin)["setting"])')" = "$(explained bcast --bytes 1M)" ] ||
    wrong "--why as JSON"
err=$("$info" --why allreduc 2>&1); [ $? = 2 ] && [[ "$err" == *"allreduc is not a collective; did you mean allreduce?"* ]] || wrong "a misspelt collective: $err"
for words in "--why" "--why bcast --bytes x" "--why bcast --nodes 0" "--why bcast --root -1" "--why bcast --op x" "--why bcast -n"; do
    # shellcheck disable=SC2086
    err=$("$info" $words 2>&1); [ $? = 2 ] && [[ "$err" == *" needs "* ]] || wrong "tutti-info $words: $err"
done
for words in "--bytes 4K" "--nodes 2" "--root 1" "--op commutative" "--unequal"; do
    # shellcheck disable=SC2086
    err=$("$info" --table $words 2>&1); [ $? = 2 ] && [[ "$err" == *"${words%% *} describes the call of --why, which is missing." ]] ||
        wrong "$words without --why: $err"
done
[[ "$("$info" --why bcast --bytes 1 -n 2)" == "The call: bcast of 1 byte on 2 ranks"* ]] || wrong "one byte"
[[ "$("$info" --why barrier -n 2)" == *"bytes loaded and stored: 0"$'\n'* ]] || wrong "the bytes of a barrier"
err=$("$info" --why bcast -n 2 --nodes 3 2>&1); [ $? = 1 ] && [[ "$err" == "tutti-info: 2 ranks cannot be on 3 nodes." ]] || wrong "too many nodes: $err"
err=$("$info" --why bcast -n 2 --root 2 2>&1); [ $? = 1 ] && [[ "$err" == "tutti-info: there is no root 2 among 2 ranks." ]] || wrong "a root beyond the ranks: $err"

none="! TUTTI_REGISTRATION_CACHE=no has no effect: this system has no XPMEM"
[[ "$(TUTTI_XPMEM=no TUTTI_REGISTRATION_CACHE=no "$info" --why bcast -n 2)" == *"$none"* ]] || wrong "no registrations"

# the bytes depend on the root, and are stated only where the formula holds
bytes() { "$info" --json --why "$@" | python3 -c 'import json, sys; print(json.load(sys.stdin)["bytes"])'; }
export TUTTI_COLL=scatter=binomial,reduce=binomial
[ "$(bytes scatter --bytes 8 -n 4) $(bytes scatter --bytes 8 -n 4 --root 3)" = "160 208" ] || wrong "the bytes of a root"
[ "$(bytes reduce --bytes 8 -n 4) $(bytes reduce --bytes 8 -n 4 --op noncommutative)" = "120 None" ] || wrong "the bytes of an operator"
unset TUTTI_COLL
finish
