#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# scalapack.sh BUILD [all | NAME...]: runs testers of ScaLAPACK, PBLAS and BLACS, as Debian built them against MPICH, on
# 4 ranks. Prints "passed NAME" or "FAILED NAME: why" for each. A tester passes if its exit code is 0, as its CTest list
# requires, and it prints no failed result.
. "$(dirname "$0")/../common.sh" "$1"
shift
need_package scalapack-mpi-test "/usr/lib/*/scalapack/mpich-tests"
programs=$(echo /usr/lib/*/scalapack/mpich-tests)
scratch=$folder
cp -rs "$programs/." "$scratch/" # the programs and their data files

names=("$@")
if [ "${names[*]}" = all ]; then
    mapfile -t names < <(find "$scratch" -name CTestTestfile.cmake -exec sed -nE 's/^add_test\((\w+) .*/\1/p' {} + | sort -u)
fi

# The BLACS testers end with a call of BLACS_ABORT, so they pass if they reach it.
ended_well() {
    case $name in
    x[CF]btest) grep -q 'The final auxiliary test' "$scratch/out" || { why="it did not reach its end"; return 1; } ;;
    *) [ "$1" = 0 ] || { why="exit code $1: $(tail -n 2 "$scratch/err")"; return 1; } ;;
    esac
}

failed_results='\bFAILED\.? *$|\b[1-9][0-9]* +FAILED|\b[1-9][0-9]* tests? (completed and )?failed'
for name in "${names[@]}"; do
    program=$(find "$scratch" -name "$name" | sort | head -1)
    cd "${program%/*}" || exit 1
    why=
    timeout -k 5 "$limit_s" "$mpiexec" --drop-in -n 4 "./$name" >"$scratch/out" 2>"$scratch/err" </dev/null
    ended_well $?
# The heads of the testers' tables have a column FAILED.
    cat "$scratch/out" ./*.SUMM ./*.out 2>/dev/null | grep -vE 'SUBROUTINE|\b0 +FAILED' | grep -E "$failed_results" \
        >"$scratch/failed" && why="$why $(head -n 1 "$scratch/failed")"
    [ -s "$scratch/out" ] || why="$why it printed nothing"
    if [ -z "$why" ]; then
        echo "passed $name"
    else
        echo "FAILED $name: $why"
        failures=$((failures + 1))
    fi
done
[ "$failures" = 0 ]
