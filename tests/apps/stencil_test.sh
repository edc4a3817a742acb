#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti-stencil: equal to its serial run, the same checksum for every number of ranks; wrong options are rejected.
# cores: 2
. "$(dirname "$0")/common.sh" "$1"
checksum() { "$build/bin/mpiexec" -n "$1" "$build/bin/tutti-stencil" --quiet --verify --steps 6 "${@:2}"; }

for shape in "--levels 2 --cells 4" "--levels 1 --cells 6 --roots 3 --together 1 --refine-every 1 --variables 3"; do
    first=
    for ranks in 1 2 3 4 8; do
        out=$(checksum $ranks $shape) || wrong "$ranks ranks, $shape: exit code $?"
        line=$(grep checksum <<<"$out")
        first=${first:-$line}
        grep -q '^PASSED$' <<<"$out" || wrong "$ranks ranks, $shape: no PASSED in: $out"
        [ "$line" = "$first" ] || wrong "$ranks ranks, $shape:$line instead of$first"
    done
done
"$build/bin/mpiexec" -n 2 "$build/bin/tutti-stencil" --cels 4 >/dev/null 2>&1 && wrong "--cels was accepted"
finish
