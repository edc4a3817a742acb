#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs of MPICH and Open MPI on several hosts under our mpiexec: one world, failures of ranks, and a lost host.
# shellcheck source=tests/cluster/common.sh
. "$(dirname "$0")/common.sh" "$1"
# shellcheck source=tests/launcher/serve/members.sh
. "$(dirname "$0")/../launcher/serve/members.sh"
for name in mpicc.mpich mpicc.openmpi; do
    command -v $name >/dev/null || { echo "skipped: package lib${name#mpicc.}-dev is not installed"; exit 77; }
done
hosts_up 3
skip_if_pretended   # Open MPI names shared memory after the host and the local rank: hosts need names of their own
compile_members "$scratch"
two=h1:2,h2:3 three=h1:1,h2:1,h3:1
# docker0 has the same address on all hosts
network=(-genv UCX_NET_DEVICES eth0 -genv OMPI_MCA_btl_tcp_if_include eth0)
settings="TMPDIR=$scratch"   # also of the launchers: a killed one leaves files

for maker in "${makers[@]}"; do
    program=$scratch/$maker
    run -hosts h2 "${network[@]}" -n 2 "$program"; expect_code 0; expect_lines "$(members 2)"
    run -hosts h2 "${network[@]}" -n 1 "$program"; expect_code 0; expect_lines "$(members 1)"
    run -hosts $two "${network[@]}" -n 5 "$program" abort 4; expect_code 17; expect_err "mpiexec: rank 4 on h2, process "
    expect_lines "$(members 2 3)"
    run -hosts $three "${network[@]}" -n 3 "$program" abort 0; expect_code 17; expect_lines "$(members 1 1 1)"
    # MPICH 4.0.2 may hang in MPI_Finalize on several hosts, under its own launcher, too: its exchange is proven above,
    # and the end of a job by the client of PMI below
    [ $maker = mpich ] || for ((again = 0; again < 3; again++)); do
        run -hosts $two "${network[@]}" -n 5 "$program"; expect_code 0; expect_lines "$(members 2 3)"
        expect_same "$err" ""
    done
    run -hosts $two "${network[@]}" -n 5 "$program" exit 3; expect_code 3; expect_err "rank 3 left with exit code 3 without"
    run -hosts $two "${network[@]}" -n 5 "$program" kill 1; expect_code 137; expect_err "rank 1 was killed by signal 9"
    expect_nothing_left
done
for version in 1 2; do
    run -q -hosts $two -n 5 python3 "$cluster_folder/../launcher/serve/pmi_client.py" $version; expect_code 0
    expect_lines "$(for rank in 0 1 2 3 4; do echo "$rank 5 (vector,(0,1,2),(1,1,3))"; done)"
    expect_same "$err" ""
done

# one host lacks what Open MPI needs
{ echo '#!/bin/sh'; echo 'host=$1; shift'
    echo '[ $host != h2 ] || set -- "PMIX_MCA_ptl_tcp_if_include=nothing7 $*"'; echo "exec $agent \$host \"\$@\""; } >"$scratch/hampers"
chmod +x "$scratch/hampers"
obstacle='the PMIx server of this node failed in PMIx_server_init: INIT'
agent=$scratch/hampers run -hosts h1:1,h2:1 "${network[@]}" -n 2 "$scratch/openmpi"; expect_code 126; expect_out ""
expect_err "on node h2: $scratch/openmpi is linked with libmpi.so.40"; expect_err "$obstacle"
agent=$scratch/hampers run -hosts h1:1,h2:1 "${network[@]}" -n 2 sh -c \
    'unset PMIX_MCA_ptl_tcp_if_include; exec "$0" stay 0' "$scratch/openmpi"
expect_code 1; expect_lines $'0 1 0 1\n0 1 0 1'; expect_err "$obstacle"; expect_err "(node h2)"

# each host has another library
"$build/bin/mpicc" "$cluster_folder/../launcher/serve/members.c" -o "$scratch/ours" || wrong mpicc
run -hosts h1:1,h2:1 "${network[@]}" -n 1 "$scratch/ours" : -n 1 "$scratch/mpich"; expect_code 126
expect_err "the program on node h1 is linked with Tutti's library, and that on node h2 with libmpich.so.12"
expect_out ""

# a host is lost while its ranks wait
for maker in "${makers[@]}"; do
    job_with "$settings" -hosts h1:1,h2:1,h3:1 "${network[@]}" -n 3 sh -c \
        "if [ \$PMI_RANK = 1 ]; then echo here >'$scratch/waits'; exec sleep 1000; fi; exec '$scratch/$maker'" \
        >"$scratch/out" 2>"$scratch/err" &
    job=$!
    until [ -s "$scratch/waits" ]; do kill -0 $job 2>/dev/null || break; sleep 0.05; done
    end_processes_on h2
    wait $job; code=$? err=$(cat "$scratch/err") what="a lost host, $maker"
    expect_code 1; expect_err "h2"
    rm -f "$scratch/waits"
    expect_nothing_left
done
finish
