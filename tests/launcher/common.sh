# SPDX-License-Identifier: BSD-3-Clause
# For the launcher's shell tests: what they call, and how they say what went wrong. Sourced with the build folder.
build=$(cd "$1" && pwd)
mpiexec=$build/bin/mpiexec
rank=$build/tests/launcher_rank
forbid=$build/tests/launcher_forbid
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

wrong() { echo "WRONG: $*"; failures=$((failures + 1)); }

# run ARGUMENTS OF MPIEXEC: leaves $code, $out, $err and $ms
run() {
    local start; start=$(date +%s%N)
    "$mpiexec" "$@" > "$folder/out" 2> "$folder/err" < "${input:-/dev/null}"
    code=$?
    ms=$((($(date +%s%N) - start) / 1000000))
    out=$(tr -d '\0' < "$folder/out"); err=$(cat "$folder/err")
    what="mpiexec $*"
}
expect_code() { [ "$code" = "$1" ] || wrong "$what ended with $code instead of $1: $err"; }
expect_out() { [ "$out" = "$1" ] || wrong "$what printed '$out' instead of '$1'"; }
expect_err() { [[ "$err" == *"$1"* ]] || wrong "$what said '$err', which does not contain '$1'"; }
expect_silence() { [ -z "$err" ] || wrong "$what said '$err' instead of nothing"; }
expect_within() { [ "$ms" -le "$1" ] || wrong "$what took $ms ms, more than $1"; }

# Of a job of eight ranks that all make the same mistake and live on until they are killed, 0.3 s later: it is told once
# in each tenth of a second, each rank once, before mpiexec's own sentence, and lines that the program wrote are whole.
expect_told_once() {
    local told all
    told=$(grep -nE "^error\[MPI_ERR_RANK\] MPI_Send: dest" <<< "$err")
    [ "$(wc -l <<< "$told")" -le 4 ] || wrong "$what said the same too often: $err"
    all=$(sed -nE 's/^  ranks? ([0-9,and -]+)  +MPI_Send\([^)]*\)  .*misbehave.*/\1/p' <<< "$err" |
        sed 's/ and /,/' | tr -d ' ' | tr , '\n' |
        while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done)
    [ -n "$all" ] && [ -z "$(sort <<< "$all" | uniq -d)" ] || wrong "$what said twice what a rank said: $err"
    [ "$(grep -c 'a line of the program' <<< "$err")" = 8 ] || wrong "$what changed what the program wrote: $err"
    [ "${told%%:*}" -lt "$(grep -n -m1 '^mpiexec: rank .* ended the job with code' <<< "$err" | cut -d: -f1)" ] ||
        wrong "$what did not explain its end after it: $err"
}

finish() { [ "$failures" = 0 ] && echo "all well" || { echo "$failures wrong"; exit 1; }; }
