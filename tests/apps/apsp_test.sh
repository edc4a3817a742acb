#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti-apsp: all distances equal those of the plain computation; the checksum is the same for every number of ranks
# (also more ranks than rows) and for the classic problem without dead ends; wrong options are rejected.
# cores: 2
. "$(dirname "$0")/common.sh" "$1"
apsp() { "$build/bin/mpiexec" -n "$1" "$build/bin/tutti-apsp" "${@:2}"; }

for shape in "--vertices 300 --junctions 7 --scenarios 5" "--vertices 60 --junctions 60 --scenarios 3" \
    "--vertices 1 --junctions 1 --scenarios 2"; do
    first=
    for ranks in 1 2 3 4 8; do
        out=$(apsp $ranks --verify $shape) || wrong "$ranks ranks, $shape: exit code $?"
        grep -q '^PASSED' <<<"$out" || wrong "$ranks ranks, $shape: no PASSED in: $out"
        line=$(grep checksum <<<"$out")
        first=${first:-$line}
        [ "$line" = "$first" ] || wrong "$ranks ranks, $shape: $line instead of $first"
    done
done
# The default rows of 64 KiB; too large for the plain computation, so only the checksums are compared.
one=$(apsp 1 --scenarios 20 | grep checksum)
for ranks in 2 8; do
    line=$(apsp $ranks --scenarios 20 | grep checksum)
    [ -n "$one" ] && [ "$line" = "$one" ] || wrong "$ranks ranks: $line instead of $one"
done
for wrong in "--vertice 8" "--junctions 0" "--junctions 9000" "--verify --vertices 4096" "--scenarios x"; do
    apsp 2 $wrong >/dev/null 2>&1 && wrong "$wrong was accepted"
done
finish
