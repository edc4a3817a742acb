#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Where /sys describes no caches, as in many virtual machines, the unit tests that detect this machine pass, and
# programs run with and without mpiexec. tests/cluster/slurm_test.sh does the same under Slurm.
. "$(dirname "$0")/../../common.sh" "$1"
hidden=$here/without_caches.sh
"$hidden" true 2>/dev/null || skip "mounts of one's own are not allowed here (unshare --mount)"
member=$build/tests/cluster_member

# unit PROGRAM FILTER
unit() {
    "$hidden" "$build/bin/$1" --gtest_brief=1 --gtest_filter="$2" >"$folder/out" 2>&1 ||
        wrong "$1: $(tail -n 20 "$folder/out")"
}
caches=$("$hidden" sh -c 'cat /sys/devices/system/cpu/cpu*/cache/index*/size' 2>/dev/null)
[ -z "$caches" ] || wrong "caches are still described"
unit tests_topo "Sysfs.*:Detect.*"
unit tests_runtime "NodeMachines.*:JoinJob.*:CacheCapacity.*"

what="mpiexec where no caches are described"
out=$("$hidden" "$mpiexec" -n 3 "$member" 2>"$folder/err") code=$? err=$(cat "$folder/err")
expect_code 0; expect_silence
expect_lines "$(for r in 0 1 2; do echo "rank $r of 3, 3 on its node, sum 3"; done)"
what="a program alone where no caches are described"
out=$("$hidden" "$member" 2>"$folder/err") code=$? err=$(cat "$folder/err")
expect_code 0; expect_silence; expect_out "rank 0 of 1, 1 on its node, sum 0"
finish
