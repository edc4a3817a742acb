# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests that start programs of other MPI libraries: builds members.c, and knows what its ranks print.
# shellcheck shell=bash

# compile_members FOLDER: FOLDER/mpich and FOLDER/openmpi
compile_members() {
    local maker source
    source=$(dirname "${BASH_SOURCE[0]}")/members.c
    for maker in mpich openmpi; do mpicc.$maker "$source" -o "$1/$maker" 2>/dev/null || wrong "mpicc.$maker failed"; done
}
# members RANKS_OF_NODE...: the lines of all ranks, sorted
members() {
    local size=0 rank=0 on_node k
    for on_node in "$@"; do size=$((size + on_node)); done
    for on_node in "$@"; do
        for ((k = 0; k < on_node; k++, rank++)); do echo "$rank $size $((size * (size - 1) / 2)) $on_node"; done
    done
}
makers=(mpich openmpi)
