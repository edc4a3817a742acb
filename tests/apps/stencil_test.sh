#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The proxy app: verified against its serial run, the same checksum for every number of ranks, wrong options refused.
set -u
build=$1
failed=0
checksum() { "$build/bin/mpiexec" -n "$1" "$build/bin/tutti-stencil" --quiet --verify --steps 6 "${@:2}"; }

for shape in "--levels 2 --cells 4" "--levels 1 --cells 6 --roots 3 --together 1 --refine-every 1 --variables 3"; do
    first=
    for ranks in 1 2 3 4 8; do
        out=$(checksum $ranks $shape) || { echo "$ranks ranks, $shape: exit code $?"; failed=1; }
        line=$(grep checksum <<<"$out")
        first=${first:-$line}
        grep -q '^PASSED$' <<<"$out" || { echo "$ranks ranks, $shape: no PASSED in: $out"; failed=1; }
        [ "$line" = "$first" ] || { echo "$ranks ranks, $shape:$line instead of$first"; failed=1; }
    done
done
"$build/bin/mpiexec" -n 2 "$build/bin/tutti-stencil" --cels 4 >/dev/null 2>&1 && { echo "--cels was accepted"; failed=1; }
exit $failed
