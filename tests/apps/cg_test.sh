#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti-cg: correct for any number of ranks, as many iterations as points, the same bits for any order of sums. It
# reports that it cannot reach the tolerance, and rejects wrong options.
# cores: 2
. "$(dirname "$0")/common.sh" "$1"
cg() { "$build/bin/mpiexec" -n "$1" "$build/bin/tutti-cg" "${@:2}"; }
identity() { grep -E '^(iterations|checksum) ' <<<"$1" | xargs; } # the lines that must not depend on the order of sums

for dots in blocking pipelined; do
    for ranks in 1 2 3 4 8; do
        for unknowns in 1 2 7 60; do
            out=$(cg $ranks --dots $dots --unknowns $unknowns --solves 2) || wrong "$dots, $ranks ranks: exit code $?"
            grep -q '^PASSED' <<<"$out" || wrong "$dots, $ranks ranks, $unknowns unknowns: $out"
            [ "$(awk '/^iterations/ {print $2}' <<<"$out")" = $((ranks * unknowns)) ] || wrong "iterations: $out"
        done
    done
    # Other algorithms add in another order.
    first=
    for algorithm in direct recursive_doubling ring; do
        out=$(TUTTI_COLL=allreduce=$algorithm cg 5 --dots $dots --unknowns 50 --solves 1) || wrong "$algorithm: $?"
        first=${first:-$(identity "$out")}
        [ "$(identity "$out")" = "$first" ] || wrong "$dots with $algorithm: $out instead of $first"
    done
done

# A limited number of iterations is no error; without a limit, a tolerance that rounding does not allow is one.
out=$(cg 2 --unknowns 2000 --iterations 20 --solves 1) || wrong "--iterations: $?"
[[ "$out" == *"iterations         20"*PASSED* ]] || wrong "--iterations: $out"
out=$(cg 2 --unknowns 600 --tolerance 1e-14 --solves 1) && wrong "an impossible tolerance was reached: $out"
grep -q '^FAILED: ' <<<"$out" || wrong "an impossible tolerance: $out"
for no in "--unknown 8" "--unknowns 0" "--unknowns x" "--dots both" "--tolerance 2" "--solves"; do
    out=$(cg 2 $no 2>&1) && wrong "$no was accepted"
    [[ "$out" == "tutti-cg: ${no%% *} "*"--help"* ]] || wrong "$no: $out"
done
out=$(cg 2 --unknown 8 2>&1)
[[ "$out" == *"--unknown is not an option; did you mean --unknowns? (--help lists them all)"* ]] || wrong "--unknown: $out"
out=$(cg 2 --help) || wrong "--help: $?"
[[ "$out" == "Usage: "*--unknowns*--dots*"exit code"* ]] || wrong "--help: $out"
[ "$(COLUMNS=60 cg 2 --help | wc -L)" -le 60 ] || wrong "--help ignores the width: $(COLUMNS=60 cg 2 --help)"
finish
