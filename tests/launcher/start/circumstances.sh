# SPDX-License-Identifier: BSD-3-Clause
# Programs that use each way of copying between ranks and check their results themselves, and how to run them in some
# circumstance. Sourced with the build folder.
# shellcheck shell=bash disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$1"
all=(ranks_coll_movements ranks_coll_reductions ranks_p2p_large ranks_p2p_modes)
pairs=(ranks_p2p_layouts)   # programs for two ranks
quick=(ranks_launcher_mover "ranks_launcher_mover static" ranks_p2p_modes)

# try RANKS CIRCUMSTANCE COMMAND...: the programs in $programs, each behind mpiexec behind COMMAND
try() {
    local ranks=$1 where=$2 program words said; shift 2
    for program in "${programs[@]}"; do
        read -ra words <<< "$program"
        said=$("$@" "$mpiexec" -n "$ranks" -timeout "$limit_s" "$build/tests/${words[0]}" "${words[@]:1}" 2>&1 < /dev/null) &&
            [ -z "$said" ] || wrong "$program on $ranks ranks $where: ended with $?: ${said:0:500}"
    done
}
