#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# NetPIPE as Debian built it against MPICH, unmodified, transfers messages of every size.
# cores: 2
. "$(dirname "$0")/../common.sh" "$1"
need_package netpipe-mpich2 NPmpich2
cd "$folder" || exit 1
# Run its integrity check, then measure, with less than its default maximum, which takes a second per message.
netpipe() { timeout "$limit_s" "$mpiexec" --drop-in -n 2 NPmpich2 "$@" >out 2>&1 || { cat out; exit 1; }; }

netpipe -i -n 20 -u 1048576
checked=$(grep -c 'Integrity check passed' out)
[ "$checked" -ge 36 ] || { echo "only $checked sizes passed NetPIPE's integrity check"; tail -5 out; exit 1; }
netpipe -n 20 -u 262144
measured=$(wc -l <np.out)
[ "$measured" -ge 60 ] || { echo "NetPIPE reported only $measured sizes"; tail -5 out; exit 1; }
