#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The benchmark runs every operation it lists, finds the results right, and refuses what it does not know.
# The limit's kernels too deliver what their operations do. Times are not judged here.
set -u
build=$1
failed=0
bench() { "$build/bin/mpiexec" -n "$1" "$build/bin/tutti-bench" "${@:2}"; }

operations=$(bench 1 --help | sed -n '/^Operations/,$ s/^  \([a-z_]*\) .*/\1/p')
[ "$(wc -w <<<"$operations")" -ge 18 ] || { echo "--help lists only: $operations"; failed=1; }
for ranks in 2 3; do
    out=$(bench $ranks --csv --sizes 8:64K --iterations 5 --warmup 3 --seconds 0.2) || { echo "exit code $?"; failed=1; }
    grep WRONG <<<"$out" && failed=1
    for operation in $operations; do
        lines=$(grep -c "^$operation,$ranks," <<<"$out")
        [ "$lines" -ge 1 ] || { echo "$ranks ranks: no line for $operation"; failed=1; }
    done
done
# Sizes that do not divide into lines, and some beyond a piece of what the kernels sum at a time.
limited="pingpong bcast reduce allreduce gather scatter allgather alltoall reduce_scatter"
for ranks in 1 2 3 8; do
    out=$(bench $ranks --csv --limit --sizes 1000:128000 --iterations 4 --warmup 2 --seconds 0.2 $limited barrier) ||
        { echo "--limit, $ranks ranks: exit code $?"; failed=1; }
    grep WRONG <<<"$out" && failed=1
    for operation in $limited; do
        lines=$(awk -F, -v name="$operation" '$1 == name && $8 >= 0 && $9 != ""' <<<"$out" | wc -l)
        [ "$lines" = 8 ] || { echo "$ranks ranks: $lines lines with a limit for $operation instead of 8"; failed=1; }
    done
    grep -q '^barrier,.*,,$' <<<"$out" || { echo "$ranks ranks: barrier has a limit"; failed=1; }
done
bench 2 --sizes 8:8 --iterations 3 --root 1 bcast | grep -q '^bcast  *8  *3 ' || { echo "no table for bcast"; failed=1; }
for wrong in "--sizes 8:x" "--root 2" "bcats" "--iteration 3"; do
    bench 2 $wrong >/dev/null 2>&1 && { echo "$wrong was accepted"; failed=1; }
done

# The script that compares algorithms: a line per size, a column per candidate, the best one among them.
switch_points() {
    BIN=$build/bin ROUNDS=2 LINE=0.02 "$(dirname "$0")/../../apps/bench/switch_points.sh" 2 "$@"
}
algorithms=$("$build/bin/tutti-info" | sed -n '/^Algorithms/,$ { /^  bcast$/,/^  reduce$/ s/^    \([a-z_]*\): .*/\1/p }')
out=$(switch_points bcast 4K:16K) || { echo "switch_points.sh: exit code $?"; failed=1; }
[ "$(awk 'NR == 2 { NF -= 2; $1 = $2 = ""; print }' <<<"$out" | xargs)" = "$(xargs <<<"$algorithms")" ] ||
    { echo "not the algorithms of tutti-info ($algorithms): $out"; failed=1; }
[ "$(awk 'NR > 2 && $(NF - 1) >= 1 { print $1 }' <<<"$out" | xargs)" = "4096 8192 16384" ] ||
    { echo "not a line per size: $out"; failed=1; }
out=$(switch_points pingpong 8K:8K TUTTI_EAGER=4K) && grep -q ' TUTTI_EAGER=4K .*best$' <<<"$out" ||
    { echo "no column for a variable: $out"; failed=1; }
for wrong in "bcats" "bcast 8:x" "bcast 8:8 slosts" "bcast 8:8 blocks:chunk=4K"; do
    switch_points $wrong >/dev/null 2>&1 && { echo "switch_points.sh $wrong was accepted"; failed=1; }
done
exit $failed
