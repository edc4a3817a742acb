#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti-memory prints its table of allocators, with a time in both columns of every row; and what a job takes: something
# in every column, no rank less than nothing, and after messages no less than before.
out=$("$1/bin/mpiexec" -n 2 "$1/bin/tutti-memory" 1) || exit 1
rows=$(tail -n +2 <<<"$out" | awk '$(NF - 3) > 0 && $(NF - 2) > 0 && $NF > 0' | wc -l)
[ "$rows" = 9 ] || { echo "$rows good rows instead of 9:"; echo "$out"; exit 1; }

out=$("$1/bin/mpiexec" -n 12 "$1/bin/tutti-memory" job) || exit 1
rows=$(tail -n +2 <<<"$out" | awk '$(NF - 5) == 12 && $(NF - 4) > 0 && $(NF - 3) >= $(NF - 4) && $(NF - 2) > 0 &&
    $(NF - 1) > 0 && $NF > $(NF - 2)' | wc -l)
[ "$rows" = 2 ] && exit
echo "$rows good rows instead of 2:"
echo "$out"
exit 1
