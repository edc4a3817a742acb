#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs missing packages, builds, runs the tests, and searches for leftover processes and files. The last line is
# "N passed, N failed", with ", N skipped" if tests were skipped. The exit code is 0 if no test failed.
set -u
# shellcheck source=tests/runner.sh
. "$(dirname "$0")/runner.sh"

usage() {
    cat <<'END'
Usage: tests/run.sh [options]
  --foreign       also run the tests that need third-party programs: NWChem, ScaLAPACK, Slurm, Chromium, ...
                  (tests/packages lists the packages, with reasons)
  --all           run everything, as CI does: --foreign; rank programs without single copy, with --check, and with
                  processes that are stopped at random (tests/storm.py); an eighth of the files compiled alone, and
                  an eighth checked by clang-tidy; tests under sanitizers; the commands of README.md on a minimal
                  Debian. Warnings are errors, and a test that is skipped for a missing package fails
  --every         --all, and leave nothing to other commits (see below)
  --scalapack     also run all test programs of ScaLAPACK (some minutes more)
  --filter RE     run only tests whose name matches; `ctest -N --test-dir build` lists the names
  --jobs N        run N tests or compilers at the same time (default: the number of cores, fewer with little memory)
  --help          print this text
Of some tests that repeat the same programs in other configurations, each commit runs a part, and the next commits the
others: rank programs on 2x2 hosts and two of the other layouts; with --all, one of the tests that build packages, an
eighth of the files alone and by clang-tidy, a third of the tests of the collectives under AddressSanitizer and half of
them under ThreadSanitizer.
END
}

all= every= foreign= scalapack= filter=. jobs=$(default_jobs)
while [ $# -gt 0 ]; do
    case $1 in
    --all) all=1 foreign=1 ;;
    --every) all=1 foreign=1 every=1 ;;
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

# others_than N NAME...: the names that this commit leaves out, separated by |: it runs N of them, the next commit the
# next N. A test that is asked for by name is never left out.
commits=$(git rev-list --count HEAD 2>/dev/null || echo 0)
others_than() {
    local n=$1 names=("${@:2}") i others=()
    [ -z "$every" ] && [ "$filter" = . ] || return 0
    for ((i = n; i < ${#names[@]}; i++)); do others+=("${names[(commits * n + i) % ${#names[@]}]}"); done
    (IFS='|'; echo "${others[*]}")
}

title "Packages"
install_groups build test peers || { broken "installing packages"; finish; }
if [ -n "$foreign" ]; then
    # One call installs all groups, which is quicker. If it fails, each group is installed alone, so that only the tests
    # of the missing group are skipped.
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

layouts=$(others_than 2 2x4 4x2 4x4 2x8 3[+]1 checked)
packages=$(others_than 1 deb_test deb_reproducible_test wheel_test wheel_reproducible_test image_test)   # each compiles everything, once or twice
[ -z "$layouts" ] || plain+=(-E "^(cluster/ranks/($layouts)|shell/packaging/($packages))$")
left_to_others() { [ -z "$2" ] || echo "Other commits run $1 ${2//|/, }."; }

title "Build"
configure_and_build build -- "${warnings[@]}" || finish
title "Tests"
left_to_others "the layouts of hosts" "${layouts//\[+\]/+}"
[ -z "$all" ] || left_to_others "of packaging" "$packages"
run_tests build "${plain[@]}"
if [ -n "$scalapack" ]; then
    title "ScaLAPACK, all programs"
    while read -r verdict program; do
        echo "$verdict $program"
        [ "$verdict" = passed ] && passed=$((passed + 1)) || failed=$((failed + 1))
    done < <(tests/programs/scalapack.sh build all </dev/null)
fi

if [ -n "$all" ]; then
    # Runs each program again in other configurations, with its smallest number of ranks above one.
    once=(-R "$filter" -L ranks -L '^smoke$')
    title "Rank programs without any single copy"
    TUTTI_ARENA=no TUTTI_CMA=no run_tests build "${once[@]}" -E ranks/memory
    title "Rank programs under --check"
    TUTTI_DIAGNOSIS=full run_tests build "${once[@]}"
    # Files that are compiled together may depend on includes of each other. Each commit checks another eighth of them,
    # without those that are always compiled alone (their second source is generated from the linked library), or not in
    # this build.
    title "Files parsed alone"
    mapfile -t files < <(find topo runtime p2p coll rma mpi_h launcher -name '*.cpp' -not -path '*/placeholders/*' \
        -not -name detect_without_udev.cpp | sort | awk "${every:-0} || NR % 8 == $commits % 8")
    files=("${files[@]/#/$root/}")
    configure_and_build build-alone "${files[@]/%/^}" -- "${warnings[@]}" -DCMAKE_UNITY_BUILD=OFF -DCMAKE_BUILD_TYPE=Parsed \
        -DCMAKE_C_FLAGS_PARSED=-fsyntax-only -DCMAKE_CXX_FLAGS_PARSED=-fsyntax-only \
        -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON && passed=$((passed + 1))
    title "Files checked by clang-tidy"
    eighth=(--eighth "$commits")
    [ -z "$every" ] || eighth=()
    tests/tidy.sh "${eighth[@]}" </dev/null
    case $? in
    0) passed=$((passed + 1)) ;;
    77) broken "skipped, though --all installs what it needs: tests/tidy.sh" ;;
    *) broken "clang-tidy; to repeat it: tests/tidy.sh ${eighth[*]}" ;;
    esac
    title "Correct programs whose processes are stopped at random"
    # The seed is the number of commits, so each commit has another one.
    if tests/storm.py build --runs 200 --jobs 4 --seed "$commits" </dev/null; then
        passed=$((passed + 1))
    else
        broken "tests/storm.py --seed $commits"
    fi
    # CMakePresets.json has the targets, the tests and the settings of the sanitizers.
    title "Build with AddressSanitizer and UndefinedBehaviorSanitizer"
    if build_preset asan; then
        title "Unit tests, and rank programs without arenas, under these sanitizers"
        shards=$(others_than 2 1 2 3 4 5 6)
        left_to_others "of unit/coll the parts" "$shards"
        run_tests build-asan --preset asan -R "$filter" ${shards:+-E "^unit/coll/($shards)$"}
        run_tests build-asan --preset asan-ranks -R "$filter" -L ranks
    fi
    title "Build with ThreadSanitizer"
    if build_preset tsan; then
        title "Ranks as threads under ThreadSanitizer: collectives, messages, windows, arenas"
        shards=$(others_than 3 1 2 3 4 5 6)
        left_to_others "of unit/coll the parts" "$shards"
        run_tests build-tsan --preset tsan ${shards:+-E "^unit/coll/($shards)$"}
    fi
    title "The commands of README.md on a minimal Debian, as a user with sudo"
    if [ "$(id -u)" != 0 ]; then
        echo "skipped: tests/fresh.sh needs root" | tee -a "$results/skipped"
        skipped=$((skipped + 1))
    elif tests/fresh.sh --user --blank >build/fresh.log 2>&1 </dev/null; then
        tail -n 3 build/fresh.log
        if python3 tests/guides/run_page.py README.md --recorded build/fresh.log; then
            passed=$((passed + 1))
        else
            broken "README.md shows another output than its commands print on a minimal Debian"
        fi
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
