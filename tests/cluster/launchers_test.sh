#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs in C, Fortran and Python join the job of any launcher as that of our mpiexec, with 1, 2 and 5 ranks on one
# host and two, and copy as many bytes directly. What cannot join ends with an error: no rank of several is silently
# rank 0 of 1. (Slurm: slurm_test.sh.)
# cores: 2
. "$(dirname "$0")/common.sh" "$1"
hosts_up 2
at_first_host() { on_host "${hosts[0]}" "$@"; }
# shellcheck source=tests/cluster/matrix.sh
. "$(dirname "$0")/matrix.sh"
matrix_up
hydra=$(command -v mpiexec.hydra) mpirun=$(command -v mpirun.openmpi)
server="python3 $(dirname "$(realpath "$0")")/pmi_launcher.py"

# start COMMAND...: runs a launcher on the first host; sets $code, $out (sorted) and $err
start() {
    what="$*"
    at_first_host timeout 600 "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    out=$(sort "$scratch/out") err=$(grep -v "plm:rsh: Warning: setpgid" "$scratch/err")
}
expect_silence() { [ -z "$err" ] || wrong "$what printed '$err' instead of nothing"; }
open_mpi() { start "$mpirun" --allow-run-as-root --oversubscribe --mca plm_rsh_agent "$agent" --mca orte_tmpdir_base "$scratch" "$@"; }

# Files of batch systems and of Kubernetes, all with the ranks in blocks.
write_host_files() {
    local first=$(((ranks + 1) / 2)) second=$((ranks / 2)) k
    { for ((k = 0; k < first; k++)); do echo "${hosts[0]}"; done
      for ((k = 0; k < second; k++)); do echo "${hosts[1]}"; done; } >"$scratch/pbs"
    { echo "${hosts[0]} $first all.q UNDEFINED"; [ "$second" = 0 ] || echo "${hosts[1]} $second all.q UNDEFINED"; } >"$scratch/sge"
    { echo "${hosts[0]} slots=$first"; [ "$second" = 0 ] || echo "${hosts[1]} slots=$second"; } >"$scratch/openmpi.hosts"
    { echo "${hosts[0]}:$first"; [ "$second" = 0 ] || echo "${hosts[1]}:$second"; } >"$scratch/mpich.hosts"
}

for language in "${languages[@]}"; do
    command_of "$language"
    # Interpreters open MPI late: their memory is in the arena if our allocator is there from the start, as mpiexec does.
    early=LD_PRELOAD=$build/lib/libtutti_malloc.so
    for ranks in 1 2 5; do
        start "$mpiexec" -n "$ranks" "${command[@]}"; expect_as_ours "$language" "$ranks" 1; expect_silence
        for version in 1 2; do
            start env "$early" $server $version "$ranks" "${command[@]}"
            expect_as_ours "$language" "$ranks" 1; expect_silence
        done
        if [ -n "$hydra" ]; then
            for port in "" -pmi-port; do
                start "$hydra" $port -genv LD_PRELOAD "${early#*=}" -n "$ranks" "${command[@]}"
                expect_as_ours "$language" "$ranks" 1; expect_silence
            done
        fi
        if [ -n "$mpirun" ]; then
            open_mpi -x "$early" -n "$ranks" "${command[@]}"
            expect_as_ours "$language" "$ranks" 1; expect_silence
        fi
        # Two hosts need two ranks, and networks of their own.
        [ -z "$pretended" ] && [ "$ranks" -gt 1 ] || continue
        placed=${hosts[0]}:$(((ranks + 1) / 2)),${hosts[1]}:$((ranks / 2))
        write_host_files
        if [ -n "$hydra" ]; then
            start "$hydra" -launcher ssh -launcher-exec "$agent" -genv LD_PRELOAD "${early#*=}" -hosts "$placed" \
                -n "$ranks" "${command[@]}"
            expect_as_ours "$language" "$ranks" 2; expect_silence
        fi
        if [ -n "$mpirun" ]; then
            open_mpi -x "$early" -H "$placed" -n "$ranks" "${command[@]}"
            expect_as_ours "$language" "$ranks" 2; expect_silence
        fi
        start env PBS_JOBID=1 PBS_NODEFILE="$scratch/pbs" "$mpiexec" --launcher-agent "$agent" "${command[@]}"
        expect_as_ours "$language" "$ranks" 2; expect_silence
        start env JOB_ID=1 PE_HOSTFILE="$scratch/sge" "$mpiexec" --launcher-agent "$agent" "${command[@]}"
        expect_as_ours "$language" "$ranks" 2; expect_silence
        # Kubernetes' mpi-operator, for Open MPI, MPICH and Intel MPI. Its agent is a variable as well.
        start env OMPI_MCA_orte_default_hostfile="$scratch/openmpi.hosts" OMPI_MCA_plm_rsh_agent="$agent" \
            OMPI_MCA_plm_rsh_args="-oConnectionAttempts=10" "$mpiexec" -n "$ranks" "${command[@]}"
        expect_as_ours "$language" "$ranks" 2; expect_silence
        for family in HYDRA_HOST_FILE I_MPI_HYDRA_HOST_FILE; do
            start env $family="$scratch/mpich.hosts" HYDRA_LAUNCHER_EXEC="$agent" I_MPI_HYDRA_BOOTSTRAP_EXEC="$agent" \
                HYDRA_LAUNCH_EXTRA_ARGS="-oConnectionAttempts=10" "$mpiexec" -n "$ranks" "${command[@]}"
            expect_as_ours "$language" "$ranks" 2; expect_silence
        done
    done
    # Its launcher starts before the workers accept connections.
    if [ -z "$pretended" ] && [ "$language" = c ]; then
        ranks=2
        write_host_files
        printf '#!/bin/sh\necho x >>"%s"\n[ "$(wc -l <"%s")" -gt 2 ] || { echo refused >&2; exit 255; }\nexec "%s" "$@"\n' \
            "$scratch/tries" "$scratch/tries" "$agent" >"$scratch/late_agent"
        chmod +x "$scratch/late_agent"
        start env OMPI_MCA_orte_default_hostfile="$scratch/openmpi.hosts" OMPI_MCA_plm_rsh_agent="$scratch/late_agent" \
            "$mpiexec" -n 2 "${command[@]}"
        expect_as_ours c 2 2
        [ "$(wc -l <"$scratch/tries")" = 3 ] || wrong "$what started its agent $(wc -l <"$scratch/tries") times"
        expect_err "exit code 255 and printed: refused"; expect_err "; trying again until TUTTI_START_TIMEOUT has passed"
        [ "$(grep -c "trying again" <<<"$err")" = 1 ] || wrong "$what printed several messages: $err"
        # Where the user names the hosts, the first refusal is an error.
        rm "$scratch/tries"
        start "$mpiexec" --launcher-agent "$scratch/late_agent" -hosts "$(tr '\n' , <"$scratch/mpich.hosts")" -n 2 "${command[@]}"
        [ "$code" != 0 ] || wrong "$what succeeded"
        expect_err "could not be reached"
    fi
    # Without a launcher, a program is a world of one; PBS's and SGE's variables do not change that.
    start env PBS_JOBID=1 PBS_NODEFILE="$scratch/pbs" PE_HOSTFILE="$scratch/sge" "$early" "${command[@]}"
    expect_as_ours "$language" 1 1; expect_silence

    # As one of several without a way to the others: an error, and nothing is computed.
    for variables in "PMI_SIZE=2 PMI_RANK=0" "PMI_FD=77 PMI_RANK=0 PMI_SIZE=2" "PMIX_NAMESPACE=gone PMIX_RANK=1" \
        "SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=3" "OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=0" \
        "FLUX_JOB_SIZE=2 FLUX_TASK_RANK=1" "MV2_COMM_WORLD_SIZE=2" "PMI_PORT=127.0.0.1:1 PMI_ID=0"; do
        start env $variables "${command[@]}"
        [ "$code" != 0 ] && [ -z "$out" ] || wrong "$what: code $code, printed '$out'"
        [[ "$err" == *"has started this process"*"${variables%% *}"*"use Tutti's mpiexec"* ]] || wrong "$what printed '$err'"
    done
done
expect_nothing_left
finish
