#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that are linked with MPICH or Open MPI run as one job under mpiexec, with their own library.
. "$(dirname "$0")/../../common.sh" "$1"
. "$here/members.sh"
need_package libmpich-dev "/usr/include/*/mpich/mpi.h"
need_package libopenmpi-dev "/usr/lib/*/openmpi/include/mpi.h"
compile_members "$folder"
export TMPDIR=$folder/tmp; mkdir "$TMPDIR"
segments() { ls /dev/shm | grep -c -e "^vader_segment.$(hostname).$(id -u)\\." -e '^mpich_shm'; }
before=$(segments)

for maker in "${makers[@]}"; do
    program=$folder/$maker
    for ranks in 1 2 5; do
        run -n $ranks "$program"; expect_code 0; expect_silence; expect_lines "$(members $ranks)"
    done
    run -n 3 "$program" abort 1; expect_code 17; expect_err "mpiexec: rank 1 on "; expect_err "ended the job with code 17"
    # MPICH's UCX refuses this before it asks mpiexec
    run -n 3 "$program" spawn 2; [ "$code" != 0 ] || wrong "$what succeeded"
    [ $maker = mpich ] || expect_err "has requested further processes (MPI_Comm_spawn), which this mpiexec does not start"
    run -n 3 "$program" exit 2; expect_code 3; expect_err "error[T09] rank 2 left with exit code 3 without calling MPI_Finalize"
    run -n 3 "$program" leave 0; expect_code 1; expect_err "error[T09] rank 0 left with exit code 0 without calling MPI_Finalize"
    run -n 3 "$program" kill 1; expect_code 137; expect_err "error[T09] rank 1 was killed by signal 9"
    expect_nothing_left
    # started by a script, and options that apply to all programs
    run -n 2 sh -c 'exec "$0"' "$program"; expect_code 0; expect_silence; expect_lines "$(members 2)"
    run -n 2 sh -c '"$0"; exit 0' "$program"; expect_code 0; expect_silence; expect_lines "$(members 2)"
    if [ $maker = mpich ]; then   # closes the connection that the script has inherited
        run -n 2 sh -c '"$0" && "$0"' "$program"; expect_code 141; expect_lines "$(members 2)"
        expect_err "exit code 141: the MPI_Finalize of its first program has closed the connection with mpiexec (PMI_FD)"
    fi   # libpmix 4.2 has removed its shared memory by the end of a first program of Open MPI, and a second one may hang
    run -n 2 -l "$program"; expect_code 0; expect_lines "$(members 2 | sed 's/^\(.\)/[\1] \1/')"
    run -n 2 -v "$program"; expect_code 0; expect_err "rank 1 is process"
    run -n 2 --stats "$program"; expect_code 0
    expect_err "the ranks do not use Tutti's library, so there are no statistics"
    run -n 2 --report "$folder/page.html" "$program"; expect_code 1
    expect_err "no rank has called MPI_Init of Tutti's library, so there is nothing to report"
    # each rank starts a job of its own
    run -n 2 sh -c 'exec "$0" -n 1 "$1"' "$mpiexec" "$program"; expect_code 0; expect_out $'0 1 0 1\n0 1 0 1'; expect_silence
    run -n 2 sh -c 'exec "$0" -n 2 "$1"' "$mpiexec" "$program"; expect_code 0; expect_silence
    expect_lines "$(printf '%s\n' 0 0 1 1 | sed 's/$/ 2 1 2/')"
    # different libraries cannot exchange messages
    "$build/bin/mpicc" "$here/members.c" -o "$folder/ours" || wrong mpicc
    run -n 1 "$folder/ours" : -n 1 "$program"; expect_code 126; expect_out ""
    expect_err "is linked with Tutti's library, and $program with lib"
    expect_err "all ranks of a job must use one MPI library"
done
run -n 1 "$folder/mpich" : -n 1 "$folder/openmpi"; expect_code 126; expect_out ""
run -n 1 "$folder/mpich" : -n 2 "$folder/mpich"; expect_code 0; expect_lines "$(members 3)"
run -n 1 "$folder/openmpi" : -n 2 "$folder/openmpi"; expect_code 0; expect_lines "$(members 3)"

# a killed mpiexec leaves no folder of its PMIx server
"$mpiexec" -n 2 sleep $nap 2>/dev/null &
killed=$!
has_folder() { [ -n "$(find "$TMPDIR" -mindepth 1 -name 'tutti-pmix-*')" ]; }
has_no_folder() { ! has_folder; }
wait_until has_folder || wrong "mpiexec has started no PMIx server"
kill -KILL $killed; wait $killed 2>/dev/null
wait_until has_no_folder || wrong "a killed mpiexec has left $(find "$TMPDIR" -mindepth 1)"
expect_nothing_left

# libpmix fails: only programs of Open MPI end for that reason, before they start
export PMIX_MCA_ptl_tcp_if_include=nothing7
run -n 2 sh -c 'echo "${PMIX_RANK-none}"'; expect_code 0; expect_out $'none\nnone'; expect_silence
run -n 2 "$folder/mpich"; expect_code 0; expect_lines "$(members 2)"; expect_silence
run -n 2 "$folder/openmpi"; expect_code 126; expect_out ""
expect_err 'only by PMIx, but the PMIx server of this node failed in PMIx_server_init: INIT, "The PMIx server'
# a script starts one nevertheless: its ranks are alone, and the job fails
lonely='unset PMIX_MCA_ptl_tcp_if_include; exec "$0" stay 0'
run -n 2 sh -c "$lonely" "$folder/openmpi"; expect_code 1; expect_out $'0 1 0 1\n0 1 0 1'
expect_err "is alone in a world of its own, because it needs PMIx to join the job, which cannot be offered: the PMIx server"
run -q -n 2 sh -c "$lonely" "$folder/openmpi"; expect_code 1; expect_silence
unset PMIX_MCA_ptl_tcp_if_include

# TMPDIR may be that of another node, or relative to a folder that the ranks leave
mkdir "$folder/here" "$folder/other"
(cd "$folder/here" && TMPDIR=missing run -n 2 -wdir "$folder/other" "$folder/openmpi"
    expect_code 0; expect_silence; expect_lines "$(members 2)"
    mkdir present; TMPDIR=present run -n 2 -wdir "$folder/other" "$folder/openmpi"
    expect_code 0; expect_lines "$(members 2)"
    exit $failures) || failures=$?
left=$(find "$folder/here" "$folder/other" -mindepth 2 | head -3)
[ -z "$left" ] || wrong "files were left in a relative TMPDIR: $left"

# Open MPI needs libpmix, which is hidden here
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    cat >"$folder/hide" <<'END'
#!/bin/sh
for file in /usr/lib/*/libpmix.so.2 /usr/lib/*/pmix2/lib/libpmix.so.2*; do mount --bind /dev/null "$file" || exit 9; done
exec "$@"
END
    chmod +x "$folder/hide"
    what="without libpmix"
    unshare -m "$folder/hide" "$mpiexec" -n 2 "$folder/openmpi" >"$folder/out" 2>"$folder/err"
    code=$? out=$(cat "$folder/out") err=$(cat "$folder/err")
    expect_code 126; expect_out ""; expect_err "is linked with libmpi.so.40"; expect_err "install PMIx (Debian: libpmix2)"
    unshare -m "$folder/hide" "$mpiexec" -n 2 sh -c 'echo ${PMIX_RANK-none}' >"$folder/out" 2>"$folder/err"
    code=$? out=$(cat "$folder/out") err=$(cat "$folder/err")
    expect_code 0; expect_silence; expect_out $'none\nnone'
fi
has_no_more_segments() { [ "$(segments)" -le "$before" ]; }   # other tests have some for a while
wait_until has_no_more_segments || wrong "shared memory was left behind: $(ls /dev/shm)"
left=$(find "$TMPDIR" -mindepth 1 | head -3)
[ -z "$left" ] || wrong "files were left in TMPDIR: $left"
finish
