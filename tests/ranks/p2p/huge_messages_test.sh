#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Messages of more than 2 GiB, by each kind of call and in each protocol, with right results and counts. One message is
# sent from a static array, which is in no arena, and one has more bytes than 32 bits count.
# cores: 2
# only: --all, for it takes gigabytes and a minute
. "$(dirname "$0")/../../launcher/nodes/nodes_common.sh" "$1"
mib=2100            # more bytes than an int counts
longer_mib=4200
needed_mib=5500     # two ranks, and system buffers for them
longer_needed_mib=9500
is_sanitized && skip "the memory of a program under a sanitizer is a multiple"
# Prints the free memory in MiB within the system's and this cgroup's limit.
free_mib() {
    local free=$(($(sed -nE 's/^MemAvailable: +([0-9]+) kB/\1/p' /proc/meminfo) / 1024)) group limit used
    for group in /sys/fs/cgroup"$(sed -n 's/^0:://p' /proc/self/cgroup)" /sys/fs/cgroup; do
        limit=$(cat "$group/memory.max" 2> /dev/null) used=$(cat "$group/memory.current" 2> /dev/null)
        [[ "$limit" =~ ^[0-9]+$ ]] && [ $(((limit - used) / 1048576)) -lt $free ] && free=$(((limit - used) / 1048576))
    done
    echo "$free"
}
free=$(free_mib)
[ "$free" -ge $needed_mib ] || skip "$needed_mib MiB of memory are needed and $free MiB are free"
program=("$build/tests/ranks_p2p_huge" $mib)

# through METHOD SETTING VALUE...: runs two ranks of this node, whose data must mostly use METHOD in the table of
# --stats
through() {
    local environment=() method=$1 bytes
    shift
    while [ $# -gt 0 ]; do environment+=(-genv "$1" "$2"); shift 2; done
    run --stats -n 2 "${environment[@]}" "${program[@]}"; expect_code 0
    [[ "$err" != *"error["* && "$err" != *"warning["* ]] || wrong "$what printed: $err"
    bytes=$(sed -E 's/ ([KMGT]iB)/\1/g' <<< "$err" | awk -v method="$method" '
        $1 == "rank" && !at { for (i = 1; i <= NF; ++i) if ($i == method) at = i }
        $1 == "all" && at { print $at; exit }')
    if [ "$method $bytes" = "CMA 0" ]; then echo "the system forbids CMA here: these messages used the segment, too"
    else [[ "$bytes" == *GiB ]] || wrong "$what moved $bytes by $method"; fi
}
through arenas
through CMA TUTTI_ARENA no
through staged TUTTI_ARENA no TUTTI_CMA no
on 127.0.0.2,127.0.0.3 -n 2 "${program[@]}"; expect_code 0; expect_silence

# A program at fixed addresses: the default code model for x86-64 reaches at most 2 GiB.
array=$folder/huge_array model=()
[ "$(uname -m)" = x86_64 ] && model=(-mcmodel=medium)
"$build/bin/mpicc" -I "$source" -O1 -fno-pie -no-pie "${model[@]}" -DSTATIC_MIB=$mib \
    "$source/tests/ranks/p2p/huge.c" -o "$array" 2> "$folder/compiler" || wrong "mpicc: $(cat "$folder/compiler")"
program=("$array" $mib message)
through CMA

if [ "$free" -ge $longer_needed_mib ]; then
    program=("$build/tests/ranks_p2p_huge" $longer_mib message)
    through arenas
    on 127.0.0.2,127.0.0.3 -n 2 "${program[@]}"; expect_code 0; expect_silence
else
    echo "no message of more than 4 GiB: it needs $longer_needed_mib MiB of memory, and $free MiB are free"
fi
expect_nothing_left
finish
