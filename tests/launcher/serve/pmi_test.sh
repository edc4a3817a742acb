#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks of other MPI libraries: mpiexec serves PMI, versions 1 and 2, on one node and on several.
# shellcheck source=tests/launcher/nodes/nodes_common.sh
. "$(dirname "$0")/../nodes/nodes_common.sh" "$1"
client="$(command -v python3) $here/pmi_client.py"

lines() { for ((rank = 0; rank < $1; rank++)); do echo "$rank $1 $2"; done; }
for version in 1 2; do
    for ranks in 2 5; do
        run -n $ranks $client $version; expect_code 0; expect_lines "$(lines $ranks "(vector,(0,1,$ranks))")"
        no_spawn='has requested further processes (MPI_Comm_spawn), which this mpiexec does not start; start all ranks '
        [[ "$err" == "mpiexec: rank "*"$no_spawn"* && "$err" != *$'\n'* ]] || wrong "$what wrote '$err'"
    done
    # a script starts two programs
    run -n 2 sh -c '"$@" && exec "$@"' sh $client $version; expect_code 0
    expect_lines "$(lines 2 "(vector,(0,1,2))" | sed p)"
    on $two -n 4 -q $client $version; expect_code 0; expect_silence; expect_lines "$(lines 4 "(vector,(0,2,2))")"
    on 127.0.0.2:2,127.0.0.3:1,127.0.0.4:2 -n 5 -q $client $version
    expect_code 0; expect_silence; expect_lines "$(lines 5 "(vector,(0,1,2),(1,1,1),(2,1,2))")"
    # a rank ends the job, or ends without finalize; the others wait in a barrier
    run -n 3 $client $version abort 1; expect_err "mpiexec: rank 1 on "; expect_err "ended the job with code"
    expect_code $((version == 1 ? 17 : 1)); expect_nothing_left
    [ $version = 1 ] || expect_err 'ended the job with code 1: no;\x0away.'
    on $two -n 4 $client $version abort 3; expect_err "mpiexec: rank 3 on 127.0.0.3, process "
    expect_code $((version == 1 ? 17 : 1)); expect_nothing_left
    run -n 3 $client $version exit 2; expect_code 1; expect_nothing_left
    expect_err "error[T09] rank 2 left with exit code 0 without calling MPI_Finalize"
    run -n 3 $client $version half 1; expect_code 1; expect_nothing_left   # in the middle of a message
    expect_err "error[T09] rank 1 left with exit code 0 without calling MPI_Finalize"
done
on 127.0.0.2:1,127.0.0.3:1 -n 2 $client 2 exit 0; expect_code 1; expect_nothing_left
on 127.0.0.2:1,127.0.0.3:1,127.0.0.4:1 -map-by node -n 5 $client 1
expect_code 0; expect_lines "$(lines 5 "(vector,(0,3,1),(0,2,1))")"

# more descriptors than the limit allows: five per rank of a node with two addresses
(ulimit -Sn 64 && on 127.0.0.2:120,127.0.0.3:1 -n 121 true; expect_code 0; expect_silence; exit $failures) || failures=$?

# what is not PMI ends the job
run -n 2 $client 1 unknown 0; expect_code 1; expect_err "rank 0 on "; expect_err "the PMI request dance\\x1b[1mxxx"; expect_err "x…, which this mpiexec does not know"
run -n 2 $client 1 garbage 1; expect_code 1; expect_err "has sent data over PMI_FD that are not PMI: a message without a command"

# only ranks that may need a server have one, and each has only its own descriptor
run -n 1 sh -c 'echo "${PMI_FD-none}"'; expect_out none
run -n 2 --drop-in sh -c 'echo "${PMI_FD-none}"'; expect_out $'none\nnone'
run -n 3 sh -c 'ls -l /proc/self/fd | grep -c socket:'; expect_code 0; expect_out $'1\n1\n1'
run -n 2 sh -c 'read line <&9 && echo "$line"' 9< <(echo mine; echo yours); expect_code 0; expect_lines $'mine\nyours'
finish
