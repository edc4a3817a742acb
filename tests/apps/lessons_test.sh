#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every command of every lesson and compares its output with the page; runs every program with 2 and 4 ranks.
# --write after the build folder writes the output into the pages instead.
# cores: 1
. "$(dirname "$0")/common.sh" "$1"
is_sanitized && skip "the plain build runs the lessons"
unset TUTTI_COLL TUTTI_TOPOLOGY TUTTI_DIAGNOSIS LD_LIBRARY_PATH
export TUTTI_TUNING=none PATH="$build/bin:$PATH"
cp -r "$source/apps/lessons" "$folder/"
python3 "$(dirname "$0")/run_lessons.py" "$folder/lessons" "$source/apps/lessons" "${@:2}" || wrong "the lessons"
for program in "$source"/apps/lessons/*/*.c; do
    mpicc -std=c99 -pedantic -Wall -Wextra -Werror -c "$program" -o "$folder/object" || wrong "a warning of $program"
done
finish
