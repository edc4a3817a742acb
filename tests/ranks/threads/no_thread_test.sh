#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# If ranks cannot start a progress thread, one rank of the node reports it in one line.
. "$(dirname "$0")/../../common.sh" "$1"
export TUTTI_PROGRESS_THREAD=yes
for ranks in 1 4; do
    run -n $ranks "$build/tests/ranks_threads_no_thread"
    expect_code 0; expect_out ""; expect_err "cannot start its progress thread (Resource temporarily unavailable)"
    [ "$(wc -l <<<"$err")" = 1 ] || wrong "$what printed more than one line: $err"
done
finish
