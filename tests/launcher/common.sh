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


finish() { [ "$failures" = 0 ] && echo "all well" || { echo "$failures wrong"; exit 1; }; }
