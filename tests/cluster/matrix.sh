# SPDX-License-Identifier: BSD-3-Clause
# Sourced with $build and $scratch set, after common.sh or with $mpiexec set: the programs joined.* in all languages that
# can be built here, and what they print under our mpiexec. Other launchers must produce the same, bytes that ranks copy
# directly included.
#
#   matrix_up          builds the programs: sets $languages and the commands ${joined_c[@]}, ${joined_fortran[@]}, ...
#   expect_as_ours LANGUAGE RANKS HOSTS   compares $out (sorted) and $code with our mpiexec's result
#   check_cell RANKS HOSTS LINES          checks a result by itself
# shellcheck shell=bash
matrix_programs=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/programs
direct_bytes=$build/tests/libcluster_direct_bytes.so
languages=() left_out=()
declare -A ours=()

matrix_up() {
    languages=(c)
    joined_c=("$build/tests/cluster_joined")
    if "$build/bin/mpifort" "$matrix_programs/joined.f90" -o "$scratch/joined" "$direct_bytes" \
        -Wl,-rpath,"$build/tests" 2>"$scratch/fortran.log"; then
        languages+=(fortran)
        joined_fortran=("$scratch/joined")
    else
        left_out+=("Fortran: $(head -1 "$scratch/fortran.log")")
    fi
    if "$matrix_programs/../../mpi4py.sh" "$build" 2>"$scratch/mpi4py.log"; then
        languages+=(mpi4py)
        joined_mpi4py=("$build/mpi4py/bin/python3" "$matrix_programs/joined.py" "$direct_bytes")
    else
        left_out+=("mpi4py: $(tail -n 1 "$scratch/mpi4py.log")")
    fi
    [ "${#left_out[@]}" = 0 ] || printf 'left out: %s\n' "${left_out[@]}"
}

# command_of LANGUAGE: sets ${command[@]}
command_of() { local -n of_language=joined_$1; command=("${of_language[@]}"); }

# Over two hosts, the partners of a message share its copy in proportion to their progress.
comparable() { if [ "$1" = 1 ]; then cat; else sed -E 's/, [1-9][0-9]* bytes direct/, some bytes direct/'; fi; }

# The first call for a cell runs our mpiexec, with the ranks in blocks on one host or two.
expect_as_ours() {
    local cell="$*" language=$1 ranks=$2 hosts_used=$3 command placed=()
    if [ -z "${ours[$cell]:-}" ]; then
        command_of "$language"
        [ "$hosts_used" = 1 ] || placed=(--launcher-agent "$agent" -hosts "${hosts[0]}:$(((ranks + 1) / 2)),${hosts[1]}:$((ranks / 2))")
        ours[$cell]=$(at_first_host "$mpiexec" "${placed[@]}" -n "$ranks" "${command[@]}" 2>&1 | sort | comparable "$hosts_used")
        what=mpiexec check_cell "$ranks" "$hosts_used" "${ours[$cell]}"
    fi
    [ "$code" = 0 ] || wrong "$what ended with $code: $err"
    out=$(comparable "$hosts_used" <<<"$out")
    [ "$out" = "${ours[$cell]}" ] || wrong "$what printed '$out' instead of '${ours[$cell]}': $err"
}

# Checks each line by its numbers; ranks that share a node copy directly.
check_cell() {
    local ranks=$1 hosts_used=$2 r on_node pattern lines
    mapfile -t lines <<<"$3"
    [ "${#lines[@]}" = "$ranks" ] || wrong "$what printed ${#lines[@]} lines for $ranks ranks: $3"
    for ((r = 0; r < ranks; r++)); do
        on_node=$ranks
        [ "$hosts_used" = 1 ] || on_node=$((r < (ranks + 1) / 2 ? (ranks + 1) / 2 : ranks / 2))
        pattern="rank $r of $ranks, $on_node on its node, sum $((ranks * (ranks - 1) / 2)),"
        [[ "${lines[r]}" == "$pattern "* ]] || wrong "$what printed '${lines[r]}' instead of '$pattern …'"
        [ "$on_node" = 1 ] || [[ "${lines[r]}" != *", 0 bytes direct" ]] || wrong "$what: rank $r copies nothing directly"
    done
}
