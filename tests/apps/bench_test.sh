#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The benchmark runs every operation that it lists, its results are correct, and wrong options are rejected. The limit's
# kernels produce the results of their operations. Times are not checked.
# cores: 2
. "$(dirname "$0")/common.sh" "$1"

right() { ! grep WRONG <<<"$out" || wrong "the benchmark reports wrong results"; }
operations=$(bench 1 --help | sed -n '/^Operations/,$ s/^  \([a-z_]*\) .*/\1/p')
[ "$(wc -w <<<"$operations")" -ge 66 ] || wrong "--help lists only: $operations"
for world in "2 8:64K" "3 64:128" "4 32K:32K"; do # 4: a grid with two ranks in each dimension
    read -r ranks sizes <<<"$world"
    out=$(bench "$ranks" --csv --sizes "$sizes" --iterations 2 --warmup 1 --seconds 0.2 blocking neighborhood nonblocking \
        persistent communicators rma) || wrong "exit code $?"
    right
    for operation in $operations; do
        lines=$(grep -c "^$operation,$ranks," <<<"$out")
        [ "$lines" -ge 1 ] || wrong "$ranks ranks: no line for $operation"
    done
done
# A grid on which every rank has four different neighbours.
out=$(bench 9 --csv --sizes 8:16 --iterations 2 --warmup 1 --seconds 0.1 neighborhood \
    ineighbor_alltoall neighbor_allgather_init) || wrong "9 ranks: exit code $?"
right
[ "$(grep -c '^i*neighbor_[a-z_]*,9,' <<<"$out")" = 10 ] || wrong "9 ranks: $out"
# Sizes that are no multiple of a line, and some larger than the piece that the kernels sum at a time.
all="pingpong bcast reduce allreduce gather scatter allgather alltoall scan reduce_scatter"
for world in "1 1000:128000 8" "2 1000:128000 8" "3 1000:16000 5" "8 64000:64000 1"; do
    read -r ranks sizes count <<<"$world"
    [ $ranks = 1 ] && limited=${all#pingpong } || limited=$all
    out=$(bench "$ranks" --csv --limit --sizes "$sizes" --iterations 3 --warmup 1 --seconds 0.2 $limited sendrecv) ||
        wrong "--limit, $ranks ranks: exit code $?"
    right
    for operation in $limited; do
        lines=$(grep -c "^$operation,.*,limit," <<<"$out")
        [ "$lines" = "$count" ] || wrong "$ranks ranks: $lines lines with a limit for $operation instead of $count"
    done
    grep -q '^sendrecv,.*,limit,' <<<"$out" && wrong "$ranks ranks: sendrecv has a limit"
done
# Small sizes: every copy method gives correct results, in single calls and in loops, for every position of a message
# in its ring and every number of elements in its last line; each ratio is that of the two columns before it.
limited="barrier ${limited/scan/} scan igatherv alltoallw allreduce_init"
for ranks in 2 3 5; do
    [ $ranks = 2 ] && all="8:4K 56:448 72:144" iterations=30 || all="8:16 56:112 72:72" iterations=10
    for sizes in $all; do # 56: a line
        out=$(bench $ranks --limit --loop --sizes $sizes --iterations $iterations --warmup 1 --blocks 2 --seconds 0.2 \
            $limited) || wrong "--limit --loop, $ranks ranks: exit code $?"
        right
        awk -v want="$limited" '
            function near(ratio, above, below) { return ratio >= (above - 0.006) / (below + 0.006) - 0.006 &&
                (below < 0.007 || ratio <= (above + 0.006) / (below - 0.006) + 0.006) }
            NF == 12 && $2 ~ /^[0-9]+$/ && near($8, $4, $7) && near($11, $9, $10) { good[$1]++ }
            { all[$1]++ }
            END { for (i = split(want, names, " "); i > 0; --i)
                if (!good[names[i]] || good[names[i]] != all[names[i]]) { print names[i] " has no limits"; bad = 1 }
                exit bad }' <<<"$out" || wrong "$ranks ranks, $sizes: $out"
    done
done
bench 2 --limit --loop --sizes 8:8 --iterations 30 --seconds 0.05 bcast barrier exscan >/dev/null || wrong "--limit --loop: exit code $?"
out=$(bench 2 --limit --loop --sizes 8:8 --iterations 30 --seconds 0.05 bcast exscan)
grep -q "less the clock's 0\.[0-9]*\$" <<<"$out" || wrong "the time of reading the clock is not reported: $out"
grep -q ' greatest  *limit  *ratio  *loop  *loop limit  *ratio  algorithm$' <<<"$out" &&
    grep -q '^exscan .* -  *-  *[0-9.]*  *-  *-  slots$' <<<"$out" || wrong "no table of loops: $out"

# With one root, the root may run ahead by at most the length of a ring; cached buffers are not altered in loops either.
out=$(bench 3 --csv --limit --loop --root 1 --sizes 8:16K --iterations 20 --seconds 0.2 bcast gather reduce scatter) &&
    ! grep WRONG <<<"$out" && [ "$(columns operation <<<"$out" | wc -l)" = 96 ] || wrong "one root: $out"
out=$(bench 2 --csv --loop --cached --root each --sizes 8:16 --iterations 40 bcast scan) && ! grep WRONG <<<"$out" &&
    [ "$(columns loop <<<"$out" | awk '$1 > 0' | wc -l)" = 4 ] || wrong "--loop --cached: $out"
bench 2 --sizes 8:8 --iterations 3 --root 1 bcast | grep -q '^bcast  *8  *3 ' || wrong "no table for bcast"
bench 2 --sizes 64:64 --cached --seconds 0.02 bcast | grep -q 'buffers left unchanged' || wrong "--cached"

# Without operations, the blocking ones run; with --overlap, the nonblocking ones.
names() { bench 2 --csv --sizes 8:8 --iterations 2 --seconds 0.01 "$@" | columns operation | xargs; }
[ "$(names)" = "$(sed '/^neighbor_/,$d' <<<"$operations" | xargs)" ] || wrong "not the blocking operations"
[ "$(names --overlap)" = "$(sed -n '/^ibarrier/,/^ineighbor_alltoallv/p' <<<"$operations" | xargs)" ] ||
    wrong "not the nonblocking operations"

# Overlap: the columns are consistent, and results are correct although a computation runs between start and wait.
for world in "1 8:32K 52" "2 8:32K 52" "5 4K:32K 16"; do
    read -r ranks sizes count <<<"$world"
    out=$(bench "$ranks" --overlap --tests 2 --csv --sizes "$sizes" --iterations 10 --seconds 0.1 iallreduce iscatter \
        ineighbor_alltoall alltoall_init) || wrong "--overlap, $ranks ranks: exit code $?"
    right
    [ "$(columns median computation both hidden algorithm <<<"$out" | awk -F, '$5 != "" && $2 > 0 && $3 > 0 && $4 >= 0 && $4 <= 100 {
        hidden = 100 * (1 - ($3 - $2) / $1)
        hidden = hidden < 0 ? 0 : hidden > 100 ? 100 : hidden
        if (hidden - $4 < 5 && $4 - hidden < 5) print
    }' | wc -l)" = "$count" ] || wrong "--overlap, $ranks ranks: $out"
done
bench 2 --overlap --sizes 8:8 --seconds 0.02 ibcast | grep -q 'computation *both *hidden %' ||
    wrong "--overlap has no column heads"
# One rank computes, the others wait: all times are that rank's.
out=$(bench 2 --overlap --computes 1 --length 3 --sizes 64K:64K --seconds 0.05 iallreduce ibcast) ||
    wrong "--computes: exit code $?"
grep -q "^rank 1's time .* while the other ranks wait" <<<"$out" || wrong "--computes: $out"

# Phases of a collective whose masters are on two sockets: means per call, and the ideal time by Amdahl's law. Pipelines
# along one tree, and algorithms without masters, have none.
simulated() { TUTTI_TOPOLOGY="socket:2 core:2" TUTTI_COLL=$1 bench 4 --sizes 64:128 --seconds 0.05 "${@:2}" allreduce bcast; }
out=$(simulated allreduce=mpich_hierarchical,bcast=mpich_hierarchical --phases --csv) || wrong "--phases: exit code $?"
[ "$(columns operation before between after median ideal <<<"$out" | awk -F, '$1 == "allreduce" && $2 > 0 && $3 > 0 && $4 > 0 {
        ideal = $5 * $3 / ($2 + $3 + $4)
        if (ideal - $6 < 0.01 && $6 - ideal < 0.01) print
    }' | wc -l)" = 2 ] && [ "$(columns operation before between after ideal <<<"$out" | grep -cx 'bcast,,,,')" = 2 ] ||
    wrong "--phases: $out"
out=$(simulated allreduce=mpich_hierarchical --phases) || wrong "--phases: exit code $?"
grep -q ' before *between *after *between % *ideal  algorithm$' <<<"$out" &&
    [ "$(grep -c '^allreduce .* [0-9.]*  *[0-9.]*  *[0-9.]*  *[0-9]*  *[0-9.]*  mpich_hierarchical$' <<<"$out")" = 2 ] &&
    [ "$(grep -c '^bcast .* -  *-  *-  *-  *-  [a-z_]*$' <<<"$out")" = 2 ] || wrong "--phases: $out"

# What messages take.
out=$(bench 2 --model --json "$folder/model.json" --sizes 8:8 --seconds 0.01 bcast) || wrong "--model: exit code $?"
grep -q '^a message takes [0-9.]* us + [0-9.]* ns per byte inside a node, [0-9.]* us + [0-9.]* ns per byte between nodes$' \
    <<<"$out" || wrong "--model: $out"
python3 - "$folder/model.json" <<'END' || wrong "--model --json wrote $(cat "$folder/model.json")"
import json, sys
results = json.load(open(sys.argv[1]))
assert results["nodes"] == 1
assert all(results[which]["latency"] > 0 and results[which]["per_byte"] >= 0 for which in ("inside", "between")), results
END
out=$(bench 1 --model --sizes 8:8 --seconds 0.01 bcast) && ! grep -q "a message takes" <<<"$out" || wrong "--model, one rank: $out"

# --root each: three columns, whose median is between minimum and maximum; empty for operations without a root.
out=$(bench 3 --csv --sizes 64:128 --root each --seconds 0.02 gather scan) || wrong "--root each: exit code $?"
[ "$(columns operation algorithm roots_least roots_median roots_greatest <<<"$out" |
    awk -F, '$1 == "gather" && $2 == "sender_writing" && $3 > 0 && $3 <= $4 && $4 <= $5' | wc -l)" = 2 ] &&
    [ "$(columns operation algorithm roots_least roots_median roots_greatest <<<"$out" | grep -cx 'scan,slots,,,')" = 2 ] ||
    wrong "--root each: $out"

# JSON: a series for the plain communicator, one for each hint, one for the limit.
json=$folder/out.json
ln -s "$json.other" "$json"   # it is replaced, not followed
bench 2 --json "$json" --sizes 8:16 --seconds 0.02 --overlap --hint key=value ibcast >/dev/null || wrong "--overlap --json: exit code $?"
python3 - "$json" <<'END' || wrong "--json wrote $(cat "$json")"
import json, sys
results = json.load(open(sys.argv[1]))
assert results["overlap"] is True
points = [p for s in results["series"] for p in s["points"]]
assert len(points) == 4 and all(p["computation"] > 0 and p["both"] > 0 and 0 <= p["hidden"] <= 100 for p in points)
END
[ ! -e "$json.other" ] || wrong "--json followed a link"
bench 2 --json "$json" --sizes 8:32 --seconds 0.02 --limit --loop --hint tutti_coll=bcast=slots bcast barrier >/dev/null ||
    wrong "--json: exit code $?"
python3 - "$json" <<'END' || wrong "--json wrote $(cat "$json")"
import json, sys
results = json.load(open(sys.argv[1]))
assert results["ranks"] == 2 and results["cached"] is False and results["overlap"] is False and "microseconds" in results["unit"], results
assert [s["name"] for s in results["series"]] == ["default", "bcast=slots", "limit"], results["series"]
default, slots, limit = (s["points"] for s in results["series"])
for points in (default, slots):
    assert [(p["operation"], p["bytes"]) for p in points] == [("barrier", 0)] + [("bcast", b) for b in (8, 16, 32)]
assert [p["bytes"] for p in limit] == [0, 8, 16, 32], limit
assert results["loop"] is True and 0 < results["clock"] < 10, results
assert all(p["loop"] > 0 for p in default + slots + limit), results
assert {limit[0]["kernel"], limit[0]["loop_kernel"]} <= {"flags", "lines"}, limit
ways = {"lines", "slots", "one copy by all", "one copy by the receiver"}
assert {p["kernel"] for p in limit[1:]} | {p["loop_kernel"] for p in limit[1:]} <= ways, limit
assert not any("kernel" in p or "loop_kernel" in p for p in default + slots), default
for p in default + slots + limit:
    assert 0 <= p["least"] <= p["tenth"] <= p["median"] <= p["ninetieth"] <= p["greatest"] and p["iterations"] > 0, p
assert all(len(p["roots"]) == 2 for p in default if p["operation"] == "bcast"), default
assert [p["algorithm"] for p in slots] == ["exchange"] + 3 * ["slots"], slots
assert all("algorithm" not in p for p in limit), limit
END
# The algorithm that ran, which may differ from the requested one.
out=$(TUTTI_COLL=bcast=slots bench 2 --csv --sizes 8K:16K --iterations 3 bcast igatherv pingpong 2>/dev/null)
[ "$(columns operation bytes algorithm <<<"$out" | xargs)" = "pingpong,8192, pingpong,16384, bcast,8192,slots bcast,16384,hierarchical \
igatherv,8192,sender_writing igatherv,16384,sender_writing" ] || wrong "what ran: $out"
out=$(TUTTI_COLL=bcast=slots bench 2 --sizes 8K:16K --iterations 3 bcast 2>/dev/null)
grep -q '^operation .* greatest  algorithm$' <<<"$out" && grep -q '^bcast  *16384 .* hierarchical$' <<<"$out" ||
    wrong "what ran: $out"
[[ "$(bench 1 --sizes 8:8 --iterations 3 bcast)" == "1 rank, Tutti "* ]] || wrong "the head of one rank"
expect_error() { bench 2 "${@:2}" 2>&1 >/dev/null | grep -qF -- "tutti-bench: $1." || wrong "no '$1' for ${*:2}"; }
expect_error "--sizes needs sizes in multiples of 8 bytes such as 8:1M, in ascending order, up to 1024M, not '8:x'" --sizes 8:x
expect_error "--sizes needs sizes in multiples of 8 bytes such as 8:1M, in ascending order, up to 1024M, not '12:1K'" --sizes 12:1K
expect_error "--sizes needs sizes in multiples of 8 bytes such as 8:1M, in ascending order, up to 1024M, not '0:8'" --sizes 0:8
expect_error "--blocks needs a whole number from 1 on, not '0'" --blocks 0
expect_error "--overlap is for nonblocking and persistent operations, such as ibcast, not for bcast" --overlap ibcast bcast
expect_error "--overlap goes with none of --limit, --loop and --root each" --overlap --limit
expect_error "--overlap goes with none of --limit, --loop and --root each" --overlap --loop
expect_error "--tests goes with --overlap" --tests 3 ibcast
expect_error "--computes goes with --overlap" --computes 1 ibcast
expect_error "--length goes with --overlap" --length 2 ibcast
expect_error "--root must be a rank below 2, 'every' or 'each'" --root 2
expect_error "there is no operation zzzzzz; --help lists them" zzzzzz
expect_error "--iteration is not an option; did you mean --iterations? (--help lists them all)" --iteration 3
expect_error "--seconds needs a number of seconds" bcast --seconds
# Outputs that cannot be written, or that another program wrote, are refused before anything is measured; all modes check
# them. An earlier output, and an empty file, are replaced.
echo '#!/bin/sh' >"$folder/script"; : >"$folder/empty.json"
refused() { # MESSAGE RANKS-AND-OPTIONS...
    local text=$1 out
    out=$("${@:2}" --sizes 8:8 --seconds 0.01 2>&1); [ $? = 2 ] || wrong "${*:2} was not refused: $out"
    [ "$out" = "tutti-bench: $text." ] || wrong "${*:2}: $out"
}
tutti_bench=$build/bin/tutti-bench
for way in "$mpiexec -q -n 2 $tutti_bench" "$tutti_bench -n 2" "$tutti_bench -n 2 --with TUTTI_EAGER=4K" "$tutti_bench -n 1:2"; do
    refused "/nowhere/out.json cannot be written: the folder /nowhere does not exist" $way --json /nowhere/out.json bcast
    refused "$folder/script exists and was not written by tutti-bench; remove it or choose another name" \
        $way --json "$folder/script" bcast
    out=$($way --json "$json" --sizes 8:8 --seconds 0.01 bcast 2>&1 >/dev/null) || wrong "$way: an earlier output is not replaced"
    [ "$(grep -cx "Written: $json" <<<"$out")" = 1 ] && [ "$(grep -c Written <<<"$out")" = 1 ] ||
        wrong "$way: the file that was written is not named: $out"
    out=$($way --json "$json" --quiet --sizes 8:8 --seconds 0.01 bcast 2>&1) || wrong "$way --quiet ended with $?"
    [[ "$out" == *bcast* && "$out" != *Written* && "$out" != *Measures* && "$out" != *measurement* ]] || wrong "$way --quiet: $out"
    : >"$folder/empty.json"
    $way --json "$folder/empty.json" --sizes 8:8 --seconds 0.01 bcast >/dev/null 2>&1 && [ -s "$folder/empty.json" ] ||
        wrong "$way: an empty file is not replaced"
done
[ "$(cat "$folder/script")" = '#!/bin/sh' ] && [ ! -e "$json.other" ] && [ ! -L "$json" ] && ! compgen -G "$folder/*.new" >/dev/null ||
    wrong "other files: $(ls "$folder")"

# An operation between two ranks is refused with one; in a group it is left out.
for way in "$mpiexec -q -n 1 $tutti_bench" "$tutti_bench -n 1" "$tutti_bench -n 1:4" "$tutti_bench -n 1 --with TUTTI_EAGER=4K"; do
    refused "pingpong (half a round trip between ranks 0 and 1) needs 2 ranks; write -n 2 instead of -n 1" $way pingpong
done
out=$(bench 1 --sizes 8:8 --iterations 2 --seconds 0.01 blocking) && grep -qx 'pingpong  *needs 2 ranks' <<<"$out" ||
    wrong "one rank, all operations: $out"

# If the reader of the output ends, so does the benchmark, silently and without leaving its folder behind. The code is
# that of SIGPIPE, or 0 if everything was printed before.
for words in bcast "--with TUTTI_EAGER=4K bcast" "--algorithms bcast:slots,bcast:linear"; do
    mkdir "$folder/tmp"
    (TMPDIR=$folder/tmp timeout 600 "$tutti_bench" -n 2 --sizes 8:8 --iterations 2 --rounds 2 $words 2>"$folder/errors"
        echo $? >"$folder/code") | head -n 1 >"$folder/null"
    [[ "$(cat "$folder/code")" =~ ^(141|0)$ ]] || wrong "a closed output, $words: code $(cat "$folder/code")"
    ! grep -q interrupted "$folder/errors" || wrong "a closed output, $words: $(cat "$folder/errors")"
    rmdir "$folder/tmp" || wrong "a closed output, $words: $(ls "$folder/tmp") is left"
done
finish
