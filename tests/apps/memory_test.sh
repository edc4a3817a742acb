#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti-memory prints its table of allocators, with two times in every row; and the memory of a job: positive in every
# column, and after messages at least as much as before.
# cores: 1
. "$(dirname "$0")/common.sh" "$1"
out=$("$mpiexec" -n 2 "$build/bin/tutti-memory" 1) || wrong "exit code $?"
rows=$(tail -n +2 <<<"$out" | awk '$(NF - 3) > 0 && $(NF - 2) > 0 && $NF > 0' | wc -l)
[ "$rows" = 9 ] || wrong "$rows good rows instead of 9: $out"

out=$("$mpiexec" -n 12 "$build/bin/tutti-memory" job) || wrong "exit code $?"
rows=$(tail -n +2 <<<"$out" | awk '$(NF - 5) == 12 && $(NF - 4) > 0 && $(NF - 3) >= $(NF - 4) && $(NF - 2) > 0 &&
    $(NF - 1) > 0 && $NF > $(NF - 2)' | wc -l)
[ "$rows" = 2 ] || wrong "$rows good rows instead of 2: $out"
finish
