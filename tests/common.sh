# SPDX-License-Identifier: BSD-3-Clause
# Sourced by shell tests with the build folder as argument: a scratch folder, functions that run jobs and check their
# results, wait for events, find processes that a job left behind, and skip a test.
# shellcheck shell=bash disable=SC2034  # the variables are for the tests
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$(cd "$(dirname "$0")" && pwd)
mpiexec=$build/bin/mpiexec
limit_s=300   # for each event and job, against hangs only; 60 s are too few on a busy machine
failures=0
export TEST_MARK=$$-$RANDOM   # in the environment of every process that the test starts
nap=$((1000000000 + $$))      # unique to this test, so that `sleep $nap` is found by its arguments
# MPI libraries create sockets here, whose paths have at most 107 characters; CMake's FindMPI splits paths at blanks.
folder=$(mktemp -d)
[[ "$folder" != *" "* && ${#folder} -le 60 ]] || { rmdir "$folder"; export TMPDIR=/tmp; folder=$(mktemp -d); }
export LC_ALL=C.UTF-8   # outputs are compared, also those of compilers
# shellcheck disable=SC2064  # this folder, even if a test gives the variable another value
trap "rm -rf '$folder'" EXIT
[ -w /dev/shm ] || export UCX_POSIX_DIR=$folder   # UCX, used by MPICH, requires a folder for its segments

skip() { echo "skipped: $*"; exit 77; }
# need_package NAME COMMAND_OR_FILE...: skips the test unless all of these exist; a file may be a pattern.
need_package() {
    local thing
    for thing in "${@:2}"; do
        command -v "$thing" >/dev/null || compgen -G "$thing" >/dev/null || skip "package $1 is not installed"
    done
}
is_sanitized() { grep -q '^TUTTI_SANITIZE:STRING=.' "$build/CMakeCache.txt"; }

wrong() { echo "WRONG: $*"; failures=$((failures + 1)); }
finish() { [ "$failures" = 0 ] && echo "all well" || { echo "$failures wrong"; exit 1; }; }

# wait_until COMMAND...: repeats the command until it succeeds.
wait_until() {
    local end=$((SECONDS + limit_s))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || { wrong "waited $limit_s s for: $*"; return 1; }
        sleep 0.02
    done
}
# ended PID WHAT CODE: waits until a child process has ended and checks its exit code. Sets $code, and $err from
# $folder/err.
ended() {
    what=$2
    wait_until has_ended "$1" || kill -KILL "$1"
    wait "$1" 2>/dev/null; code=$? err=$(cat "$folder/err")
    expect_code "$3"
}
has_ended() { [[ "$(ps -o stat= -p "$1")" != [!Z]* ]]; }

# run ARGUMENTS OF MPIEXEC: runs a job and sets $code, $out, $err and $what.
run() {
    local began=$SECONDS
    what="mpiexec $*"
    timeout -k 5 "$limit_s" "$mpiexec" "$@" >"$folder/out" 2>"$folder/err" <"${input:-/dev/null}"
    code=$?
    out=$(tr -d '\0' <"$folder/out") err=$(cat "$folder/err")
    [ $((SECONDS - began)) -lt "$limit_s" ] || wrong "$what had not ended after $limit_s s"
}
expect_code() { [ "$code" = "$1" ] || wrong "$what ended with $code instead of $1: $err"; }
expect_out() { [ "$out" = "$1" ] || wrong "$what printed '$out' instead of '$1'"; }
expect_lines() { [ "$(sort <<<"$out")" = "$1" ] || wrong "$what printed '$out' instead of these lines in any order: '$1'"; }
expect_err() { [[ "$err" == *"$1"* ]] || wrong "$what wrote '$err' to standard error, which does not contain '$1'"; }
expect_silence() { [ -z "$err" ] || wrong "$what wrote '$err' to standard error instead of nothing"; }

# marked: prints the processes that the test has started, except subshells. sleepers: prints those that run `sleep
# $nap`, with any environment.
marked() {
    local mark=$TEST_MARK
    (TEST_MARK=''; grep -lzxs "TEST_MARK=$mark" /proc/[0-9]*/environ | tr -dc '0-9\n')
}
sleepers() { pgrep -f "^sleep $nap\$"; }
nothing_left() { [ -z "$(marked)$(sleepers)" ]; }
expect_nothing_left() {
    local left
    wait_until nothing_left && return
    left=$(marked; sleepers)
    wrong "$what left behind: $(ps -o pid=,args= -p "${left//$'\n'/,}")"
}
