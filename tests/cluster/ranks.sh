#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# ranks.sh BUILD LAYOUT [REGEX]: runs the rank tests (those whose name matches) on several hosts that are created once.
# LAYOUT is 2x2, 2x4, 4x2, 4x4, 2x8 (hosts x ranks) or 3+1. A program runs with as many ranks as the layout has if its
# line "// ranks:" has that number, filling each host before the next; else with a smaller number, assigned to hosts in
# turn; else it is skipped.
. "$(dirname "$0")/common.sh" "$1"
layout=$2 regex=${3:-.}

case $layout in
2x2) slots=(2 2) full=4 fewer=2 ;;
2x4) slots=(4 4) full=8 fewer=5 ;;
4x2) slots=(2 2 2 2) full=8 fewer=6 ;;
4x4) slots=(4 4 4 4) full=16 fewer=16 ;;
2x8) slots=(8 8) full=16 fewer=16 ;;
3+1) slots=(3 1) full=4 fewer=3 ;;
*) echo "ranks.sh: no layout $layout" >&2; exit 2 ;;
esac

hosts_up "${#slots[@]}"
list=
for k in "${!hosts[@]}"; do list+=,${hosts[k]}:${slots[k]}; done

# run_program NAME PROGRAM COUNTS ENVIRONMENT ARGUMENTS FORBIDDEN: FORBIDDEN matches reports that fail the test
run_program() {
    local name=$1 program=$2 words=(-hosts "${list#,}") arguments code
    case ";$3;" in
    *";$full;"*) words+=(-n "$full") ;;
    *";$fewer;"*) words+=(-n "$fewer" -map-by node) ;;
    *) return ;;
    esac
    IFS=';' read -ra arguments <<<"$5"
    words+=(-timeout 600 "$program" "${arguments[@]}")
    run=$((run + 1))
    job_with "$4" "${words[@]}" >"$scratch/out" 2>&1 </dev/null
    code=$?
    [ "$code" = 0 ] && ! grep -qE "$6" "$scratch/out" && return
    wrong "$name ended with $code: $4 mpiexec ${words[*]}"
    tail -n 20 "$scratch/out"
}

run=0
while IFS='|' read -r name program counts settings arguments forbidden_reports; do
    [[ $name =~ $regex ]] && run_program "$name" "$program" "$counts" "$settings" "$arguments" "$forbidden_reports"
done <"$build/tests/cluster_programs"
[ "$run" -gt 0 ] || wrong "no program was run"
expect_nothing_left
echo "$run programs on ${hosts[*]}, $layout"
finish
