#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A program between mpiexec and the rank may close descriptors: the rank then opens the segment again, or reports what
# to do.
. "$(dirname "$0")/../../common.sh" "$1"
is_sanitized && skip "a sanitizer must come first in the program"
mover=$build/tests/ranks_launcher_mover
closing='for d in /proc/self/fd/*; do d=${d##*/}; [ "$d" -lt 3 ] || eval "exec $d>&-"; done; exec "$@"'
other='eval "exec $TUTTI_SEGMENT_FD< /dev/null"; exec "$@"'

run -n 2 --stats bash -c "$closing" sh "$mover"; expect_code 0
run -n 3 bash -c "$closing" sh "$mover" static; expect_code 0; expect_silence
run -n 2 bash -c "$other" sh "$mover"; expect_code 0; expect_silence
if command -v python3 > /dev/null; then
    run -n 2 python3 -c "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], close_fds=True).returncode)" "$mover"
    expect_code 0; expect_silence
fi
# If the rank cannot see the process of mpiexec, it reports what to do.
run -n 2 bash -c "export TUTTI_LAUNCHER=4711@1; $closing" sh "$mover"; expect_code 15
expect_err "was closed between mpiexec and this program"; expect_err "close_fds=False"
# Another file is not mistaken for the segment of this job.
run -n 2 bash -c "export TUTTI_SEGMENT_INODE=1; $closing" sh "$mover"; expect_code 15; expect_err "another file"
if unshare --fork --pid true 2> /dev/null; then
    run -n 2 unshare --fork --pid bash -c "$closing" sh "$mover"; expect_code 15; expect_err "another pid namespace"
fi
expect_nothing_left
finish
