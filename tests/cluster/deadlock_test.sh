#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Deadlocks between ranks of several hosts are reported; long waits for a message in flight are not.
. "$(dirname "$0")/common.sh" "$1"
hosts_up 2 delay=120000 rate=100   # longer than the detector takes to suspect a deadlock and to query the ranks
skip_if_pretended
waits=$build/tests/cluster_waits
words=(-hosts h1:2,h2:2 -n 4 -timeout 600)
for how in heads ring tag sends ended stopped collectives chatter; do
    run "${words[@]}" "$waits" "$how"
    expect_code 125
    expect_err "deadlock: "
done
for how in late large circle round; do
    run "${words[@]}" "$waits" "$how"
    expect_code 0
    [ -z "$err" ] || wrong "$what printed $err"
done
expect_nothing_left
finish
