#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, builds, runs the tests, and looks for leftovers. The last line is "N passed, N failed", with
# ", N skipped" behind it where tests were skipped; the exit code says the same.
set -u
# shellcheck source=tests/runner.sh
. "$(dirname "$0")/runner.sh"

usage() {
    cat <<'END'
Usage: tests/run.sh [options]
  --foreign       also the tests that need programs of others: NWChem, ScaLAPACK, Slurm, Chromium, ...
                  (tests/packages says what is installed for them, and why)
  --all           everything, as CI does: --foreign, rank programs without single copy, under --check, and with
                  processes that are stopped at random (tests/storm.py), an eighth
                  of the files compiled alone, tests under sanitizers, both commands on a minimal Debian; warnings are
                  errors, and a test that is skipped for a missing package fails
  --scalapack     also all of ScaLAPACK's own test programs (some minutes more)
  --filter RE     only tests whose name matches; `ctest -N --test-dir build` lists the names
  --jobs N        N tests and compilers at once (default: the number of cores, fewer with little memory)
  --help          this text
END
}

all= foreign= scalapack= filter=. jobs=$(default_jobs)
while [ $# -gt 0 ]; do
    case $1 in
    --all) all=1 foreign=1 ;;
    --foreign) foreign=1 ;;
    --scalapack) scalapack=1 foreign=1 ;;
    --filter) filter=${2:?--filter needs a regular expression}; shift ;;
    --jobs) jobs=${2:?--jobs needs a number}; shift ;;
    --help | -h) usage; exit 0 ;;
    *) echo "tests/run.sh: there is no option $1" >&2; usage >&2; exit 2 ;;
    esac
    shift
done
start_results

title "Packages"
install_groups build test peers || { broken "installing packages"; finish; }
if [ -n "$foreign" ]; then
    # All in one go, which is quicker; if that fails, group by group, so that only the missing one's tests are skipped.
    groups=$(foreign_groups)
    # shellcheck disable=SC2086
    if ! install_groups $groups; then
        for group in $groups; do
            install_groups "$group" || echo "The packages of $group cannot be installed: their tests are skipped."
        done
    fi
fi
prepare_scratch

plain=(-R "$filter")
left_out=
[ -n "$foreign" ] || left_out+='|foreign'
[ -n "$all" ] || left_out+='|in_all'
[ -z "$left_out" ] || plain+=(-LE "^(${left_out#|})$")
warnings=()
[ -z "$all" ] || warnings=(-DCMAKE_COMPILE_WARNING_AS_ERROR=ON)

title "Build"
configure_and_build build -- "${warnings[@]}" || finish
title "Tests"
run_tests build "${plain[@]}"
if [ -n "$scalapack" ]; then
    title "ScaLAPACK, all programs"
    while read -r verdict program; do
        echo "$verdict $program"
        [ "$verdict" = passed ] && passed=$((passed + 1)) || failed=$((failed + 1))
    done < <(tests/programs/scalapack.sh build all </dev/null)
fi

if [ -n "$all" ]; then
    # Each program once more in other circumstances, on its smallest number of ranks above one.
    once=(-R "$filter" -L ranks -L '^smoke$')
    title "Rank programs without any single copy"
    TUTTI_ARENA=no TUTTI_CMA=no run_tests build "${once[@]}" -E ranks/memory
    title "Rank programs under --check"
    TUTTI_DIAGNOSIS=full run_tests build "${once[@]}"
    # Compiled together, a file may depend on what its neighbour includes. Each commit takes another eighth of them, but
    # not the file that is compiled alone in any case, beside a source that is generated from the linked library.
    title "Files parsed alone"
    commits=$(git rev-list --count HEAD 2>/dev/null || echo 0)
    mapfile -t files < <(find topo runtime p2p coll rma mpi_h launcher -name '*.cpp' -not -path '*/placeholders/*' |
        sort | awk "NR % 8 == $commits % 8")
    files=("${files[@]/#/$root/}")
    configure_and_build build-alone "${files[@]/%/^}" -- "${warnings[@]}" -DTUTTI_UNITY=OFF -DCMAKE_BUILD_TYPE=Parsed \
        -DCMAKE_C_FLAGS_PARSED=-fsyntax-only -DCMAKE_CXX_FLAGS_PARSED=-fsyntax-only \
        -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON && passed=$((passed + 1))
    title "Right programs whose processes are stopped at random"
    # Each commit has a storm of its own.
    if tests/storm.py build --runs 200 --jobs 4 --seed "$commits" </dev/null; then
        passed=$((passed + 1))
    else
        broken "the storm of seed $commits"
    fi
    # Unrecovered reports: the first one ends the program, and with it the test.
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
    export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1
    title "Build with AddressSanitizer and UndefinedBehaviorSanitizer"
    if configure_and_build build-asan unit_and_rank_tests -- -DTUTTI_SANITIZE=address,undefined; then
        title "Unit tests under them, and rank programs without arenas"
        run_tests build-asan -R "$filter" -L unit
        TUTTI_ARENA=no run_tests build-asan "${once[@]}" -E ranks/memory
    fi
    title "Build with ThreadSanitizer"
    if configure_and_build build-tsan tests_coll tests_coll_threads tests_p2p tests_rma tests_runtime \
        -- -DTUTTI_SANITIZE=thread; then
        title "Ranks as threads under it: collectives, messages, windows, arenas"
        run_tests build-tsan -R 'unit/(coll|p2p|rma|runtime)'
    fi
    title "Both commands on a minimal Debian, as a user with sudo"
    if [ "$(id -u)" != 0 ]; then
        echo "skipped: tests/fresh.sh needs root" | tee -a "$results/skipped"
        skipped=$((skipped + 1))
    elif tests/fresh.sh --user --blank >build/fresh.log 2>&1 </dev/null; then
        tail -n 3 build/fresh.log
        passed=$((passed + 1))
    else
        tail -n 60 build/fresh.log
        broken "the commands on a minimal Debian (build/fresh.log)"
    fi
    while read -r missing; do
        broken "skipped, though --all installs what it needs: $missing"
    done < <(grep -E 'package [^ ]+ is not installed' "$results/skipped")
fi

check_leftovers
finish
