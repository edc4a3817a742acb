#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# NetPIPE, as Debian built it against MPICH, unmodified: every message size arrives, to the end.
set -u
build=$1
command -v NPmpich2 >/dev/null || { echo "skipped: no NPmpich2 (Debian: apt-get install netpipe-mpich2)"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
# First its integrity check, then measured, but not up to its default, messages that take a second each.
netpipe() { timeout 120 "$build/bin/mpiexec" --drop-in -n 2 NPmpich2 "$@" >out 2>&1 || { cat out; exit 1; }; }

netpipe -i -n 20 -u 1048576
checked=$(grep -c 'Integrity check passed' out)
[ "$checked" -ge 36 ] || { echo "only $checked sizes passed NetPIPE's integrity check"; tail -5 out; exit 1; }
netpipe -n 20 -u 262144
measured=$(wc -l <np.out)
[ "$measured" -ge 60 ] || { echo "NetPIPE reported only $measured sizes"; tail -5 out; exit 1; }
