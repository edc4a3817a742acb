# SPDX-License-Identifier: BSD-3-Clause
# Sourced with the build folder: programs that use each copy method between ranks and check their results, and a
# function that runs them under some restriction.
# shellcheck shell=bash disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$1"
all=(ranks_coll_movements ranks_coll_reductions ranks_p2p_large ranks_p2p_modes)
pairs=(ranks_p2p_layouts)   # programs for two ranks
quick=(ranks_launcher_mover "ranks_launcher_mover static" ranks_p2p_modes)

# try RANKS RESTRICTION COMMAND...: runs each of $programs by `COMMAND... mpiexec`
try() {
    local ranks=$1 where=$2 program words output; shift 2
    for program in "${programs[@]}"; do
        read -ra words <<< "$program"
        output=$("$@" "$mpiexec" -n "$ranks" -timeout "$limit_s" "$build/tests/${words[0]}" "${words[@]:1}" 2>&1 < /dev/null) &&
            [ -z "$output" ] || wrong "$program on $ranks ranks $where: ended with $?: ${output:0:500}"
    done
}
