# SPDX-License-Identifier: BSD-3-Clause
# Sourced by shell tests with the build folder as argument: a scratch folder, jobs and statements about them, waiting for
# events, what a job has left behind, and the reasons to skip a test.
# shellcheck shell=bash disable=SC2034  # the variables are for the tests
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$(cd "$(dirname "$0")" && pwd)
mpiexec=$build/bin/mpiexec
limit_s=300   # for each event and each job, against hangs only: 60 s were seen to be too few beside other work
failures=0
export TEST_MARK=$$-$RANDOM   # in the environment of everything that the test starts
nap=$((1000000000 + $$))      # seconds to sleep that no other test uses: `sleep $nap` is found by its arguments
# MPIs make sockets in it, whose paths may have 107 characters, and CMake's FindMPI splits paths at blanks.
folder=$(mktemp -d)
[[ "$folder" != *" "* && ${#folder} -le 60 ]] || { rmdir "$folder"; export TMPDIR=/tmp; folder=$(mktemp -d); }
export LC_ALL=C.UTF-8   # what is printed is compared, also compilers' messages
trap 'rm -rf "$folder"' EXIT
[ -w /dev/shm ] || export UCX_POSIX_DIR=$folder   # MPICH's UCX ends without a folder for its segments

skip() { echo "skipped: $*"; exit 77; }
# need_package NAME COMMAND_OR_FILE...: skips the test unless all of them exist; a file may be a pattern.
need_package() {
    local thing
    for thing in "${@:2}"; do
        command -v "$thing" >/dev/null || compgen -G "$thing" >/dev/null || skip "package $1 is not installed"
    done
}
is_sanitized() { grep -q '^TUTTI_SANITIZE:STRING=.' "$build/CMakeCache.txt"; }

wrong() { echo "WRONG: $*"; failures=$((failures + 1)); }
finish() { [ "$failures" = 0 ] && echo "all well" || { echo "$failures wrong"; exit 1; }; }

# wait_until COMMAND...: until it succeeds.
wait_until() {
    local end=$((SECONDS + limit_s))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || { wrong "waited $limit_s s for: $*"; return 1; }
        sleep 0.02
    done
}
# ended PID WHAT CODE: waits for a child that is to end by itself with that code. Leaves $code, and $err from $folder/err.
ended() {
    what=$2
    wait_until has_ended "$1" || kill -KILL "$1"
    wait "$1" 2>/dev/null; code=$? err=$(cat "$folder/err")
    expect_code "$3"
}
has_ended() { [[ "$(ps -o stat= -p "$1")" != [!Z]* ]]; }

# run ARGUMENTS OF MPIEXEC: leaves $code, $out, $err and $what
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
expect_err() { [[ "$err" == *"$1"* ]] || wrong "$what said '$err', which does not contain '$1'"; }
expect_silence() { [ -z "$err" ] || wrong "$what said '$err' instead of nothing"; }

# Processes that the test has started, except shells of its own; with any environment, those that sleep for $nap seconds.
marked() {
    local mark=$TEST_MARK
    (TEST_MARK=''; grep -lzxs "TEST_MARK=$mark" /proc/[0-9]*/environ | tr -dc '0-9\n')
}
napping() { pgrep -f "^sleep $nap\$"; }
nothing_left() { [ -z "$(marked)$(napping)" ]; }
expect_nothing_left() {
    local left
    wait_until nothing_left && return
    left=$(marked; napping)
    wrong "$what left behind: $(ps -o pid=,args= -p "${left//$'\n'/,}")"
}
