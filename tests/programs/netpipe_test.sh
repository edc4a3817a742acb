#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# NetPIPE, as Debian built it against MPICH, unmodified: every message size arrives, to the end.
set -u
build=$1
command -v NPmpich2 >/dev/null || { echo "skipped: no NPmpich2 (Debian: apt-get install netpipe-mpich2)"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
# -I: check the data; afterwards with times taken, up to 256 KiB (its default goes on until a message takes a second).
for options in "-I -n 20 -u 1048576" "-n 20 -u 262144"; do
    rm -f np.out
    timeout 120 "$build/bin/mpiexec" --drop-in -n 2 NPmpich2 $options >out 2>&1 || { cat out; exit 1; }
    lines=$(wc -l <np.out)
    [ "$lines" -ge 60 ] || { echo "NPmpich2 $options reported only $lines sizes"; tail -5 out; exit 1; }
    grep -iE "error|corrupt|mismatch" out && exit 1
done
exit 0
