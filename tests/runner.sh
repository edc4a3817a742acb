# SPDX-License-Identifier: BSD-3-Clause
# Sourced by run.sh, smoke.sh, one.sh and stress.sh: builds, runs and counts tests, searches for leftovers, prints a summary.
# shellcheck shell=bash
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
root=$PWD
# shellcheck source=tests/install.sh
. tests/install.sh

# These scripts read printed texts, which must not depend on the locale. A tuning file of this machine must not choose
# the algorithms that are tested.
export LC_ALL=C.UTF-8 TUTTI_TUNING=none
umask 022

# Every process that a test starts has this mark in its environment, and creates its files in $TMPDIR. The path is short
# because paths of sockets have at most 107 characters.
export TEST_RUN_MARK="run$$-$RANDOM"
prepare_scratch() {
    TMPDIR=$(TMPDIR=/tmp mktemp -d) || exit 1
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
    trap 'exit 130' INT TERM HUP
    named_files >"$root/build/files-before"
}
named_files() { find /dev/shm /tmp -maxdepth 1 -iname '*tutti*' 2>/dev/null | sort; }

# title NAME: begins a part. The summary has the duration of each part.
title() {
    end_part
    section=$1 section_start=$SECONDS
    printf '\n== %s (%s s)\n' "$1" "$SECONDS"
}
end_part() {
    [ -z "${section:-}" ] || parts+=("$(printf '%6d  %s' $((SECONDS - section_start)) "$section")")
    section=
}
parts=()
passed=0 failed=0 skipped=0
broken() { echo "FAILED: $*" | tee -a "$results/failures"; failed=$((failed + 1)); }
results=$root/build/results
start_results() {
    mkdir -p "$results"
    : >"$results/failures"
    : >"$results/skipped"
    : >"$results/times"
}

# logged_build FOLDER COMMAND...: runs a command that configures or builds, with its output in FOLDER/log.
logged_build() {
    local folder=$1
    shift
    "$@" >"$folder/log" 2>&1 </dev/null && return
    grep -A 40 -m 1 -E '^FAILED: |CMake Error' "$folder/log" || tail -n 40 "$folder/log"
    broken "building $folder (the whole log is $folder/log)"
    return 1
}
# configure FOLDER CMAKE OPTIONS
configure() {
    mkdir -p "$1"
    logged_build "$1" cmake -G Ninja -B "$1" -DCMAKE_UNITY_BUILD=ON -DTUTTI_TESTS=ON "${@:2}" .
}
# configure_and_build FOLDER TARGETS -- CMAKE OPTIONS
configure_and_build() {
    local folder=$1 targets=()
    shift
    while [ "$1" != -- ]; do targets+=("$1"); shift; done
    shift
    configure "$folder" "$@" && logged_build "$folder" ninja -C "$folder" -j "$jobs" "${targets[@]}"
}
# build_preset NAME: configures and builds a preset of CMakePresets.json, in build-NAME.
build_preset() {
    mkdir -p "build-$1"
    logged_build "build-$1" cmake --preset "$1" && logged_build "build-$1" cmake --build --preset "$1" -j "$jobs"
}
# build_tests RE: builds what the tests need whose names match the extended regular expression; build/tests/targets
# lists it.
build_tests() {
    local targets
    configure build || return
    targets=$(re=$1 awk '$1 ~ ENVIRON["re"] { for (i = 2; i <= NF; i++) if (!seen[$i]++) print $i }' build/tests/targets)
    if [ -z "$targets" ]; then
        broken "no test has a name that matches $1; ctest -N --test-dir build lists the names"
        return 1
    fi
    # shellcheck disable=SC2086
    logged_build build ninja -C build -j "$jobs" $targets
}

# read_junit FILE: prints a line per test, "passed|failed|skipped SECONDS NAME", followed by ": REASON" if skipped.
read_junit() {
    awk '
        function attribute(name) { return match($0, name "=\"[^\"]*\"") ? substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 3) : "" }
        /<testcase / { name = attribute(" name"); seconds = attribute(" time"); verdict = attribute(" status"); reason = "" }
        /skipped: / { if (reason == "") { reason = $0; sub(/.*skipped: /, "", reason); sub(/<\/system-out>.*/, "", reason); gsub(/&apos;/, "\047", reason); gsub(/&quot;/, "\"", reason) } }
        /<\/testcase>/ {
            if (verdict == "run") print "passed", seconds, name
            else if (verdict == "fail") print "failed", seconds, name
            else print "skipped", seconds, name ": " (reason == "" ? "no reason given" : reason)
        }' "$1"
}

# failed_outputs LOG: prints the last 40 lines of output of each failed test in the log of ctest.
failed_outputs() {
    awk -v section="$section" '
        / Test +#[0-9]+: / {
            if (failed) show()
            failed = /\*\*\*/ && !/\*\*\*Skipped/; line = $0; count = 0
            next
        }
        /tests passed, [0-9]+ tests? failed/ { if (failed) show(); failed = 0 }
        !/^ *Start +[0-9]+:|^$/ { output[count++ % 40] = $0 }
        function show(k) {
            print section ": " line
            for (k = count > 40 ? count - 40 : 0; k < count; k++) print "    " output[k % 40]
        }' "$1"
}

# Limits against hangs, the same for all tests: no test may fail because the machine is slow or busy. A test may take
# long, but counts as hanging if its processes use less than 0.1 s of processor time within a minute.
test_limit=900 still_limit=60
# Prints "PID START TICKS" for each child of ctest: the process of a test, its start time (process IDs are reused), and
# the processor time of the test and its descendants in hundredths of a second, without orphans.
test_ticks() {
    cat /proc/[0-9]*/stat 2>/dev/null | awk -v ctest="$1" '
        { pid = $1; sub(/.*\) /, ""); parent[pid] = $2; start[pid] = $20; ticks[pid] = $12 + $13 + $14 + $15 }
        END {
            for (pid in parent) {
                for (test = pid; test in parent && parent[test] != ctest; ) test = parent[test]
                if (test in parent) sum[test] += ticks[pid]
            }
            for (test in sum) print test, start[test], sum[test]
        }'
}
descendants() { local child; for child in $(ps -o pid= --ppid "$1"); do echo "$child"; descendants "$child"; done; }
# end_still_tests CTEST: until ctest has ended, prints the processes of hanging tests and ends them.
end_still_tests() {
    local -A ticks_before=() since=()
    local test pid start ticks difference processes
    while kill -0 "$1" 2>/dev/null; do
        while read -r pid start ticks; do
            test=$pid-$start difference=$((ticks - ${ticks_before[$pid-$start]:--1000}))
            if [ "$difference" -ge 10 ] || [ "$difference" -lt 0 ]; then
                ticks_before[$test]=$ticks since[$test]=$SECONDS
            elif [ "$((SECONDS - since[$test]))" -ge "$still_limit" ]; then
                processes=$(descendants "$pid")
                echo "This test has made no progress for $still_limit s and is ended:"
                ps -o pid,ppid,stat,wchan:20,time,args -p "$(echo "$pid" $processes | tr ' ' ,)"
                kill -TERM $processes "$pid" 2>/dev/null
                sleep 2
                kill -KILL $processes "$pid" 2>/dev/null
            fi
        done < <(test_ticks "$1")
        sleep 5
    done
}
# run_tests FOLDER CTEST OPTIONS: runs the tests and adds their results to the summary.
run_tests() {
    local folder=$1 counts ctest watch
    shift
    rm -f "$root/$folder/junit.xml"
    : >"$folder/tests.log"   # must exist before tail opens it
    # Four slots per core: tests count quarters of cores (CMakeLists.txt).
    ctest --test-dir "$folder" -j $((4 * jobs)) --timeout "$test_limit" --output-on-failure --no-tests=ignore \
        --output-junit "$root/$folder/junit.xml" "$@" >"$folder/tests.log" 2>&1 </dev/null &
    ctest=$!
    end_still_tests "$ctest" >"$folder/still.log" 2>&1 &
    watch=$!
    tail -n +1 -f --pid="$ctest" "$folder/tests.log" | grep -a --line-buffered -vE '^ *Start +[0-9]+:|^Internal ctest|^$'
    wait "$ctest" "$watch"
    cat "$folder/still.log" | tee -a "$results/failures"
    failed_outputs "$folder/tests.log" >>"$results/failures"
    [ -e "$folder/junit.xml" ] || return 0
    read_junit "$folder/junit.xml" >"$folder/verdicts"
    awk -v section="$section" '$1 == "skipped" { sub(/^skipped [^ ]* /, ""); print section ": " $0 }' "$folder/verdicts" >>"$results/skipped"
    awk -v section="$section" '$1 != "skipped" { print $2, section ": " $3 }' "$folder/verdicts" >>"$results/times"
    read -r -a counts < <(awk '{ n[$1]++ } END { print n["passed"] + 0, n["failed"] + 0, n["skipped"] + 0 }' "$folder/verdicts")
    passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
}

# Prints the processes and files that the tests left behind.
leftovers() {
    local command environment pid
    for environment in /proc/[0-9]*/environ; do
        pid=${environment#/proc/} pid=${pid%/environ}
        [ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] && continue
        if { tr '\0' '\n' <"$environment"; } 2>/dev/null | grep -qx "TEST_RUN_MARK=$TEST_RUN_MARK"; then
            command=$({ tr '\0' ' ' <"/proc/$pid/cmdline"; } 2>/dev/null)
            [ -n "$command" ] && [ "$(ps -o ppid= -p "$pid" | tr -d ' ')" != "$BASHPID" ] && echo "process $pid: $command"
        fi
    done
    find "$TMPDIR" -mindepth 1 -printf 'file %p (kind %y, of %TT, %s bytes)\n'
    named_files | comm -13 build/files-before - | sed 's/^/file /'
}
check_leftovers() {
    local left
    title "Leftovers"
    left=$(leftovers)
    if [ -n "$left" ]; then
        broken "processes or files were left behind:
$left"
    else
        echo "none"
        passed=$((passed + 1))
    fi
}

# Prints the summary and ends the script.
finish() {
    end_part
    title "Duration of each part, in seconds"
    printf '%s\n' "${parts[@]}"
    if [ -s "$results/times" ]; then
        title "The ten slowest tests, in seconds"
        sort -rn "$results/times" | head -n 10 | awk '{ printf "%7.1f  ", $1; sub(/^[^ ]+ /, ""); print }'
    fi
    [ ! -s "$results/skipped" ] || { title "Skipped"; sort -u "$results/skipped"; }
    [ ! -s "$results/failures" ] || { title "Failures"; cat "$results/failures"; }
    echo
    if [ "$skipped" = 0 ]; then echo "$passed passed, $failed failed"; else echo "$passed passed, $failed failed, $skipped skipped"; fi
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
    exit
}
