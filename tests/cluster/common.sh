# SPDX-License-Identifier: BSD-3-Clause
# Sourced with the build folder by the tests on several hosts: functions that start jobs and check their results.
# shellcheck shell=bash
build=$(cd "$1" && pwd)
mpiexec=$build/bin/mpiexec
failures=0
# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"

wrong() { echo "WRONG: $*"; failures=$((failures + 1)); }
expect_same() { [ "$1" = "$2" ] || wrong "'$1' instead of '$2'"; }
skip_if_pretended() {
    [ -z "$pretended" ] && return
    echo "skipped: this machine allows no network namespaces"
    exit 77
}

# job_with SETTINGS ARGUMENTS: runs mpiexec on the first host, with "A=b;C=d" in its environment.
job_with() {
    local settings
    IFS=';' read -ra settings <<<"${1//;;/;}"
    shift
    on_host "${hosts[0]}" env "${settings[@]}" "$mpiexec" --launcher-agent "$agent" "$@"
}
# run ARGUMENTS OF MPIEXEC: runs a job; sets $code, $out and $err.
run() {
    job_with "${settings:-}" "$@" >"$scratch/out" 2>"$scratch/err" <"${input:-/dev/null}"
    code=$?
    out=$(tr -d '\0' <"$scratch/out") err=$(cat "$scratch/err")
    what="mpiexec $*"
}
expect_code() { [ "$code" = "$1" ] || wrong "$what ended with $code instead of $1: $err"; }
expect_failure() { [ "$code" != 0 ] || wrong "$what succeeded"; }
expect_out() { [ "$out" = "$1" ] || wrong "$what printed '$out' instead of '$1'"; }
# Lines in any order.
expect_lines() { [ "$(sort <<<"$out")" = "$1" ] || wrong "$what printed '$out' instead of the lines '$1'"; }
expect_err() { [[ "$err" == *"$1"* ]] || wrong "$what printed '$err', which does not contain '$1'"; }

# Waits until no process is left on the hosts; on a busy machine this may take some time.
expect_nothing_left() {
    local host pids k
    [ -z "$pretended" ] || return 0
    for host in "${hosts[@]}"; do
        for ((k = 0; k < 2400; k++)); do
            pids=$(processes_on "$host")
            [ -n "$pids" ] || break
            sleep 0.05
        done
        [ -z "$pids" ] || wrong "left on $host: $(ps -o pid=,args= -p "$(echo $pids | tr ' ' ,)")"
    done
}

# Replaces the agent by one whose data is sent over the same cables as that of ranks.
serve_carriers() {
    local host
    for host in "${hosts[@]}"; do
        on_host "$host" setpriv --pdeathsig KILL python3 "$cluster_folder/carrier.py" serve >"$scratch/serves.$host" &
        disown $!
        until [ -s "$scratch/serves.$host" ]; do sleep 0.01; done
    done
    agent="python3 $cluster_folder/carrier.py"
}

finish() { [ "$failures" = 0 ] && echo "all well" || { echo "$failures wrong"; exit 1; }; }
