# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the launcher's shell tests with the build folder: their programs, and checks that several tests share.
# shellcheck shell=bash source=tests/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$1"
rank=$build/tests/launcher_rank
forbid=$build/tests/launcher_forbid

# For ranks that are shell scripts: one rank writes its PID to a file before it ends, others wait until mpiexec has
# reaped it.
leave="echo \$\$ > '$folder/leaver'"
await_leaver="until [ -s '$folder/leaver' ] && ! kill -0 \$(cat '$folder/leaver') 2> /dev/null; do sleep 0.01; done"

# Checks a job of eight ranks that all make the same error and continue until they are killed, 0.3 s later: the error is
# reported at most once per 0.1 s, each rank once, before mpiexec's own message, and output lines are not split.
expect_reported_once() {
    local reported all
    reported=$(grep -nE "^error\[MPI_ERR_RANK\] MPI_Send: dest" <<< "$err")
    all=$(sed -nE 's/^  ranks? ([0-9,and -]+)  +MPI_Send\([^)]*\)  .*misbehave.*/\1/p' <<< "$err" |
        sed 's/ and /,/' | tr -d ' ' | tr , '\n' |
        while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done)
    [ -n "$all" ] && [ -z "$(sort <<< "$all" | uniq -d)" ] || wrong "$what reported a rank twice: $err"
    [ "$(grep -c 'a line of the program' <<< "$err")" = 8 ] || wrong "$what changed the output of the program: $err"
    [ "${reported%%:*}" -lt "$(grep -n -m1 '^mpiexec: rank .* ended the job with code' <<< "$err" | cut -d: -f1)" ] ||
        wrong "$what did not print its own message after the report: $err"
}

# time_out PATTERN COMMAND...: calls `run` or a similar function. The time limit must end the job, and the table of
# waiting ranks must contain PATTERN. Raises the limit if a slow machine needs longer until the ranks wait.
time_out() {
    local pattern="What ranks wait for:*$1" MPIEXEC_TIMEOUT
    export MPIEXEC_TIMEOUT
    for MPIEXEC_TIMEOUT in 1 10 100; do
        "${@:2}"; expect_code 124
        # shellcheck disable=SC2053
        [[ "$err" != *$pattern* ]] || return
    done
    wrong "$what printed '$err', which does not contain '$pattern'"
}

# ask_on_terminal ARGUMENTS OF MPIEXEC: rank 0 prompts for a name on a terminal; it is typed when the prompt has
# appeared.
ask_on_terminal() {
    : > "$folder/screen"
    { wait_until grep -q 'name? ' "$folder/screen" >&2; echo Ann; } |
        timeout "$limit_s" "$build/tests/launcher_on_terminal" "$mpiexec" "$@" sh -c \
            '[ $PMI_RANK = 0 ] || exit 0; printf "name? "; read name; echo "hi $name"' > "$folder/screen"
    [[ "$(cat "$folder/screen")" == *"name? "*"hi Ann"* ]] || wrong "on a terminal: '$(cat "$folder/screen")'"
}
