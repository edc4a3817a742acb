#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, builds, runs every plain test, and looks for leftovers: a quarter of an hour on two
# cores. With --all everything else, too: 50 minutes. The last line is "N passed, N failed"; the exit code says the same.
set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD

usage() {
    cat <<'END'
Usage: tests/run.sh [options]
  --all           also the rank tests with every way of copying, a build without lots, and the tests under sanitizers;
                  what CI runs
  --scalapack     also all of ScaLAPACK's own test programs (some minutes more)
  --filter RE     only tests whose name matches; ctest -N in build/ lists the names
  --jobs N        so many tests and compilers at once (number of cores)
  --help          this text
END
}

all= scalapack= filter=. jobs=$(nproc)
while [ $# -gt 0 ]; do
    case $1 in
    --all) all=1 ;;
    --scalapack) scalapack=1 ;;
    --filter) filter=${2:?--filter needs a regular expression}; shift ;;
    --jobs) jobs=${2:?--jobs needs a number}; shift ;;
    --help | -h) usage; exit 0 ;;
    *) echo "tests/run.sh: no option $1" >&2; usage >&2; exit 2 ;;
    esac
    shift
done

export TUTTI_TUNING=none   # what was measured here must not choose for the tests
# Seen on Linux 6.18: with session groups some rank tests with spinning threads stood for minutes, and the kernel's own
# threads with them ("workqueue lockup" in dmesg); without them, seconds. Why is not known. CI tests us and not that: it
# switches them off, where it may, and says so. What users with session groups meet is not tested here.
session_groups=/proc/sys/kernel/sched_autogroup_enabled
groups_before=$(cat "$session_groups" 2>/dev/null)
if [ -n "$all" ] && [ "$groups_before" = 1 ] && { echo 0 >"$session_groups"; } 2>/dev/null; then
    trap 'echo 1 >"$session_groups"' EXIT
    echo "$session_groups is 0 while this runs"
fi

failures=$root/build/failures
mkdir -p build
: >"$failures"

passed=0 failed=0
finish() {
    [ ! -s "$failures" ] || { title "What failed, once more"; cat "$failures"; }
    echo
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
    exit
}
broken() { echo "FAILED: $*" | tee -a "$failures"; failed=$((failed + 1)); }
title() { section=$1; printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }

# configure_and_build FOLDER TARGETS -- CMAKE OPTIONS
configure_and_build() {
    local folder=$1 targets=()
    shift
    while [ "$1" != -- ]; do targets+=("$1"); shift; done
    shift
    mkdir -p "$folder"
    { cmake -G Ninja -B "$folder" -DTUTTI_TESTS=ON "$@" . && ninja -C "$folder" -j "$jobs" "${targets[@]}"; } >"$folder/log" 2>&1 && return
    tail -40 "$folder/log"
    broken "building $folder"
    return 1
}

# The last lines of each failed test's output, out of ctest's own.
failed_outputs() {
    awk -v section="$section" '
        / Test +#[0-9]+: / {
            if (failed) tell()
            failed = /\*\*\*/; line = $0; count = 0
            next
        }
        /tests passed, [0-9]+ tests? failed/ { if (failed) tell(); failed = 0 }
        !/^ *Start +[0-9]+:|^$/ { said[count++ % 40] = $0 }
        function tell(k) {
            print section ": " line
            for (k = count > 40 ? count - 40 : 0; k < count; k++) print "    " said[k % 40]
        }' "$1"
}

# run_tests FOLDER CTEST OPTIONS: adds ctest's count to ours.
run_tests() {
    local folder=$1 of bad
    shift
    ctest --test-dir "$folder" -j "$jobs" --output-on-failure --no-tests=ignore -R "$filter" "$@" 2>&1 </dev/null |
        tee "$folder/tests.log" | grep -vE '^ *Start +[0-9]+:|^Internal ctest|^$'
    failed_outputs "$folder/tests.log" >>"$failures"
    read -r bad of < <(sed -nE 's/.* ([0-9]+) tests? failed out of ([0-9]+)$/\1 \2/p' "$folder/tests.log")
    passed=$((passed + ${of:-0} - ${bad:-0}))
    failed=$((failed + ${bad:-0}))
}

# Everything that a test starts carries this mark in its environment and puts its files into this folder.
export TEST_RUN_MARK="run$$-$RANDOM"
export TMPDIR=$root/build/scratch
named_files() { find /dev/shm /tmp -maxdepth 1 -iname '*tutti*' 2>/dev/null | sort; }
leftovers() {
    local seen environment pid
    for environment in /proc/[0-9]*/environ; do
        pid=${environment#/proc/} pid=${pid%/environ}
        [ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] && continue
        if tr '\0' '\n' 2>/dev/null <"$environment" | grep -qx "TEST_RUN_MARK=$TEST_RUN_MARK"; then
            seen=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")
            [ -n "$seen" ] && [ "$(ps -o ppid= -p "$pid" | tr -d ' ')" != "$BASHPID" ] && echo "process $pid: $seen"
        fi
    done
    find "$TMPDIR" -mindepth 1 | sed 's/^/file /'
    named_files | comm -13 build/begin - | sed 's/^/file /'
}

title "Packages"
# shellcheck source=tests/install.sh
. tests/install.sh
need "${build_packages[@]}" "${test_packages[@]}" procps || { broken "installing packages"; finish; }
mkdir -p "$TMPDIR"
named_files >build/begin

title "Build"
configure_and_build build -- || finish
title "Tests"
run_tests build
if [ -n "$scalapack" ]; then
    title "ScaLAPACK, all programs"
    while read -r verdict program; do
        echo "$verdict $program"
        [ "$verdict" = passed ] && passed=$((passed + 1)) || failed=$((failed + 1))
    done < <(tests/programs/scalapack.sh build all </dev/null)
fi

if [ -n "$all" ]; then
    title "Rank tests without arenas"
    TUTTI_ARENA=no run_tests build -L ranks -E ranks/memory
    title "Rank tests without any single copy"
    TUTTI_ARENA=no TUTTI_CMA=no run_tests build -L ranks -E ranks/memory
    title "Rank tests under --check"
    TUTTI_DIAGNOSIS=full run_tests build -L ranks
    # Each file by itself: in lots one may lean on what another includes, or define what another defines differently.
    title "Build of every file alone"
    configure_and_build build-alone tutti_coll tutti_rma tutti_launcher tests_topo tests_launcher -- \
        -DTUTTI_UNITY=OFF -DCMAKE_BUILD_TYPE=Plain -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON && passed=$((passed + 1))
    # Unrecovered reports: the first one ends the program, and with it the test.
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
    export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1
    title "Build with AddressSanitizer and UndefinedBehaviorSanitizer"
    if configure_and_build build-asan unit_and_rank_tests -- -DTUTTI_SANITIZE=address,undefined; then
        title "Unit and rank tests under them"
        run_tests build-asan -L 'unit|ranks'
    fi
    title "Build with ThreadSanitizer"
    if configure_and_build build-tsan tests_coll tests_coll_threads tests_p2p tests_rma tests_runtime -- -DTUTTI_SANITIZE=thread; then
        title "Ranks as threads under it: collectives, messages, windows, arenas"
        run_tests build-tsan -R 'unit/(coll|p2p|rma|runtime)'
    fi
fi

title "Leftovers"
left=$(leftovers)
if [ -n "$left" ]; then
    echo "$left"
    broken "something was left behind"
else
    echo "none"
    passed=$((passed + 1))
fi
finish
