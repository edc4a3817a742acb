#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Results are correct although one frame in a hundred is lost.
. "$(dirname "$0")/common.sh" "$1"
hosts_up 2 delay=200 loss=1
skip_if_pretended
for program in cluster_roots cluster_both_ways cluster_subsets p2p_many_to_many coll_movements; do
    run -hosts h1:2,h2:2 -n 4 -timeout 600 "$build/tests/ranks_$program"
    expect_code 0
done
expect_nothing_left
finish
