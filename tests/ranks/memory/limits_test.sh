#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Address-space limits inside a rank, unknown to the launcher: the rank maps only what its limit allows.
# cores: 2
. "$(dirname "$0")/../../common.sh" "$1"
is_sanitized && skip "sanitizers need more addresses than the limits allow"
ranks() { "$build/bin/mpiexec" -n "$1" -timeout 100 bash -c "$2; exec \"\$0\" never" "$build/tests/ranks_memory_locked"; }

for limit in 1000000 500000; do
    ranks 4 "ulimit -v $limit" || { echo "ulimit -v $limit in the ranks: $?"; exit 1; }
done
# A limit in one rank only.
# shellcheck disable=SC2016
ranks 4 '[ $TUTTI_RANK != 1 ] || ulimit -v 1000000' || { echo "a limit of one rank: $?"; exit 1; }
