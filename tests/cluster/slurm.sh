# SPDX-License-Identifier: BSD-3-Clause
# Sourced after tests/common.sh: starts a private Slurm on this machine, in $folder, with its own key and ports: munged,
# slurmctld and a slurmd for each of the nodes n1 and n2, without accounting, cgroups or binding. Several can run at the
# same time, and nothing is left after the script.
#
#   slurm_up      sets $scratch (a folder) and SLURM_CONF, by which srun, sbatch and so on find it; skips the test if
#                 this Slurm does not support PMIx
# shellcheck shell=bash

slurm_processes=()

slurm_conf() {
    local ports here
    mapfile -t ports < <(python3 -c 'import socket
all = [socket.socket() for _ in range(3)]
for s in all: s.bind(("127.0.0.1", 0))
for s in all: print(s.getsockname()[1])')
    here=$(hostname -s)
    cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$here(127.0.0.1)
SlurmctldPort=${ports[0]}
AuthType=auth/munge
AuthInfo=socket=$scratch/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/%n
TmpFS=$scratch/%n/tmp
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.%n.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=n1 NodeHostname=$here NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=4 State=UNKNOWN
NodeName=n2 NodeHostname=$here NodeAddr=127.0.0.1 Port=${ports[2]} CPUs=4 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
CONF
}

# Each daemon dies with this script.
slurm_start() {
    setpriv --pdeathsig KILL "$@" </dev/null >>"$scratch/start.log" 2>&1 &
    slurm_processes+=($!)
}

slurm_up() {
    local k
    # Paths of sockets have at most 107 characters.
    scratch=$folder/slurm
    mkdir "$scratch"
    trap slurm_down EXIT
    trap 'exit 130' INT TERM HUP
    export SLURM_CONF=$scratch/slurm.conf
    mkdir -p "$scratch"/{state,n1/tmp,n2/tmp}
    head -c 64 /dev/urandom >"$scratch/key" && chmod 400 "$scratch/key"
    slurm_conf
    srun --mpi=list 2>&1 | grep -qw pmix || skip "this Slurm has no plugin for PMIx"
    slurm_start munged --foreground --force --key-file="$scratch/key" --socket="$scratch/munge.socket" \
        --pid-file="$scratch/munged.pid" --seed-file="$scratch/seed" --num-threads=1
    for ((k = 0; k < 2400; k++)); do [ -S "$scratch/munge.socket" ] && break; sleep 0.05; done
    slurm_start slurmctld -D -c -i
    slurm_start slurmd -D -N n1
    slurm_start slurmd -D -N n2
    for ((k = 0; k < 1200; k++)); do
        [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && return
        sleep 0.1
    done
    echo "Slurm does not start here:"
    tail -n 20 "$scratch"/*.log
    exit 1
}

slurm_down() {
    local code=$? pid k
    scancel --full --quiet --signal=KILL --user=root 2>/dev/null
    for ((k = 0; k < 50; k++)); do [ -z "$(squeue -h 2>/dev/null)" ] && break; sleep 0.1; done
    for pid in "${slurm_processes[@]}"; do
        kill "$pid" 2>/dev/null
    done
    for ((k = 0; k < 100; k++)); do
        kill -0 "${slurm_processes[@]}" 2>/dev/null || break
        sleep 0.05
    done
    kill -KILL "${slurm_processes[@]}" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$folder"
    return "$code"
}
