#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank stores through a wrong pointer into the memory shared by the ranks of its node and mpiexec: mpiexec and the
# daemons survive, end the job and name the rank, with all options that report its state.
. "$(dirname "$0")/../nodes/nodes_common.sh" "$1"

check_report() { expect_err "rank 1 "; expect_err "signal 11 (Segmentation fault)"; expect_nothing_left; }
for byte in 0 1 85 255; do
    for reports in "" "--stats" "--report $folder/page.html" "--trace $folder/trace.json --stats"; do
        words=("$rank" init only 1 await 0 only 1 overwrite $byte only 1 signal 11 sleep "$nap")
        # shellcheck disable=SC2086
        run $reports -n 2 "${words[@]}"; expect_code 139; check_report
        # shellcheck disable=SC2086
        on 127.0.0.2:2,127.0.0.3:1 $reports -n 3 "${words[@]}"; expect_code 139; check_report
    done
    # the job continues for a while, and mpiexec searches for deadlocks
    run -n 2 -timeout 1 "$rank" init only 1 await 0 only 1 overwrite $byte sleep "$nap"; [ "$code" != 0 ] && [ "$code" -lt 128 ] || wrong "$what ended with $code: $err"
    expect_nothing_left
done
# the next rank finds no valid segment, and reports why
run -n 2 sh -c "if [ \$PMI_RANK = 0 ]; then '$rank' overwrite 85; touch '$folder/done'; exec sleep $nap; fi
    until [ -e '$folder/done' ]; do sleep 0.01; done; exec '$rank' init"
expect_err "through a wrong pointer"; [ "$code" != 0 ] || wrong "$what succeeded"
finish
