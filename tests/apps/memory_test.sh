#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti-memory prints its table, with a time in both columns of every row.
out=$("$1/bin/mpiexec" -n 2 "$1/bin/tutti-memory" 1) || exit 1
rows=$(tail -n +2 <<<"$out" | awk '$(NF - 3) > 0 && $(NF - 2) > 0 && $NF > 0' | wc -l)
[ "$rows" = 9 ] && exit
echo "$rows good rows instead of 9:"
echo "$out"
exit 1
