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
hydra=$(command -v mpiexec.hydra) || echo "left out: Hydra, because package mpich is not installed"
mpirun=$(command -v mpirun.openmpi) || echo "left out: Open MPI, because package openmpi-bin is not installed"
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
        for kind in 1 2 hosts slurm; do
            start env "$early" $server $kind "$ranks" "${command[@]}"
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
        # The same if the user names the variable's file, or if the agent closes its output long before it ends.
        rm "$scratch/tries"
        sed -i 's/echo refused >&2; exit/echo refused >\&2; exec <\&- >\&- 2>\&-; sleep 1; exit/' "$scratch/late_agent"
        start env OMPI_MCA_orte_default_hostfile="$scratch/openmpi.hosts" OMPI_MCA_plm_rsh_agent="$scratch/late_agent" \
            "$mpiexec" --hostfile "$scratch/openmpi.hosts" -n 2 "${command[@]}"
        expect_as_ours c 2 2
        [ "$(wc -l <"$scratch/tries")" = 3 ] || wrong "$what started its agent $(wc -l <"$scratch/tries") times"
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
        "FLUX_JOB_SIZE=2 FLUX_TASK_RANK=1" "MV2_COMM_WORLD_SIZE=2" "PMI_PORT=127.0.0.1:1 PMI_ID=0" \
        "PMI_FD=77 PMI_SIZE=4 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1" "PMIX_NAMESPACE=x" "PRTE_LAUNCHED=1" \
        "SLURM_STEP_NUM_TASKS=4 OMPI_COMM_WORLD_SIZE=1 SLURM_STEP_ID=0"; do
        start env $variables "${command[@]}"
        [ "$code" != 0 ] && [ -z "$out" ] || wrong "$what: code $code, printed '$out'"
        [[ "$err" == *"has started this process"*"${variables%% *}"*"use Tutti's mpiexec"* ]] || wrong "$what printed '$err'"
    done
done

# Settings and results that need several values of the server, a second program of the same task, and late errors.
member=$build/tests/cluster_member
start env TUTTI_TUNING=tuned $server slurm 2 "$member"; expect_code 0; expect_silence
expect_out $'rank 0 of 2, 2 on its node, sum 1\nrank 1 of 2, 2 on its node, sum 1'
start $server slurm 1 sh -c '"$0" 0 kill; "$0"' "$member"; expect_code 0; expect_out "rank 0 of 1, 1 on its node, sum 0"
start $server slurm 1 "$member" 0 abort; expect_code 17; expect_err "the program called MPI_Abort with code 17"
start env TUTTI_START_TIMEOUT=2 $server slurm 2 sh -c '"$0"; "$0"' "$member"
[ "$code" != 0 ] || wrong "$what ended with 0"
expect_out $'rank 0 of 2, 2 on its node, sum 1\nrank 1 of 2, 2 on its node, sum 1'
expect_err "it cannot be reached by PMI: the server has not answered within 2 s (TUTTI_START_TIMEOUT)"
for kind in 1 2 slurm; do
    start $server $kind 2 "$member" 1 late; expect_code 15; expect_err "MPI_Barrier was called after MPI_Finalize"
    start $server $kind 2 sh -c 'kill -KILL $$'; expect_code 137
done
# Errors of jobs that have the same number of a step in different jobs of Slurm are reported by each of them.
for ((job = 1; job <= 4; job++)); do
    SLURM_JOB_ID=$job SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 at_first_host "$member" >"$scratch/job.$job" 2>&1 &
done
wait
for ((job = 1; job <= 4; job++)); do
    grep -q "has started this process as one of 4" "$scratch/job.$job" || wrong "job $job printed '$(cat "$scratch/job.$job")'"
done
# Machines with equal names, which have started at different times, share no memory.
boot='file=$(mktemp "$1/boot.XXXXXX"); cat /proc/sys/kernel/random/uuid >"$file"
    mount --bind "$file" /proc/sys/kernel/random/boot_id && rm "$file" && exec "$0"'
if [ -z "$pretended" ] && unshare --mount true 2>/dev/null; then
    start $server hosts 2 unshare --mount sh -c "$boot" "$member" "$scratch"; expect_code 0
    expect_out $'rank 0 of 2, 1 on its node, sum 1\nrank 1 of 2, 1 on its node, sum 1'
    expect_err "tutti: the ranks on ${hosts[0]} share no memory"
fi

# Each resource manager starts the daemons by its own command, a stand-in here, on the nodes of its job. Variables of
# other launchers do not change that.
fakes=$scratch/fakes
mkdir "$fakes"
fake() { printf '#!/bin/sh\necho "%s $*" >>"%s/used"\n%s\n' "$1" "$scratch" "$2" >"$fakes/$1"; chmod +x "$fakes/$1"; }
fake srun 'while [ "$1" != --nodelist ]; do shift; done; shift; exec "$REAL_AGENT" "$@"'
fake ssh 'while [ "${1#-}" != "$1" ]; do [ "$1" != -o ] || shift; shift; done; exec "$REAL_AGENT" "$@"'
fake qrsh '[ "$1 $2" = "-inherit -V" ] || exit 1; shift 2; exec "$REAL_AGENT" "$@"'
fake blaunch 'exec "$REAL_AGENT" "$@"'
fake flux 'case "$1 $2" in
"resource R") echo "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"0-1\", \"children\": {\"core\": \"3\"}}],
    \"nodelist\": [\"h[1-2]\"]}}" ;;
"overlay lookup") echo $((${3#h} - 1)) ;;
"exec --quiet") [ "$3 $4" = "--setopt=stdout_LINE_BUFFER=false --rank=1" ] || exit 1; shift 4; exec "$REAL_AGENT" h2 "$3" ;;
*) exit 1 ;;
esac'
# managed COMMAND VARIABLES... -- ARGUMENTS: the last command that mpiexec has started
managed() {
    local command_used=$1 variables=()
    shift
    while [ "$1" != -- ]; do variables+=("$1"); shift; done
    shift
    rm -f "$scratch/used"
    start env PATH="$fakes:$PATH" REAL_AGENT="$agent" "${variables[@]}" "$mpiexec" "$@"
    expect_as_ours c 2 2; expect_silence
    [[ "$(tail -n 1 "$scratch/used")" == "$command_used "* ]] || wrong "$what used $(cat "$scratch/used")"
}
if [ -z "$pretended" ]; then
    ranks=2 slurm=(SLURM_JOB_NODELIST="h[1-2]" SLURM_TASKS_PER_NODE="1(x2)")
    command_of c
    write_host_files
    managed srun "${slurm[@]}" -- "${command[@]}"
    for variable in OMPI_MCA_plm_rsh_agent=/bin/false HYDRA_LAUNCH_EXTRA_ARGS=-v HYDRA_LAUNCHER_EXEC=/usr/bin/srun; do
        managed srun "${slurm[@]}" $variable -- "${command[@]}"
    done
    managed srun "${slurm[@]}" -- -hosts h1,h2 -n 2 "${command[@]}"
    managed srun "${slurm[@]}" -- -f "$scratch/mpich.hosts" -n 2 "${command[@]}"
    managed ssh SLURM_JOB_NODELIST=h1 -- -hosts h1,h2 -n 2 "${command[@]}"
    managed ssh "${slurm[@]}" -- -launcher ssh "${command[@]}"
    managed srun HYDRA_LAUNCHER=slurm -- -hosts h1,h2 -n 2 "${command[@]}"
    managed "ssh -v -x" HYDRA_LAUNCH_EXTRA_ARGS=-v -- -hosts h1,h2 -n 2 "${command[@]}"
    managed flux FLUX_URI=local:///nowhere -- "${command[@]}"
    managed qrsh PE_HOSTFILE="$scratch/sge" -- "${command[@]}"
    managed blaunch LSB_MCPU_HOSTS="h1 1 h2 1" -- "${command[@]}"
fi
expect_nothing_left
finish
