#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The lessons: every command of every page, compared with what the page says that it prints; every program with 2 and 4
# ranks. With --write behind the build folder the pages are given what was printed.
# cores: 1
. "$(dirname "$0")/common.sh" "$1"
is_sanitized && skip "the plain build does it"
unset TUTTI_COLL TUTTI_TOPOLOGY TUTTI_DIAGNOSIS LD_LIBRARY_PATH
export TUTTI_TUNING=none PATH="$build/bin:$PATH"
cp -r "$source/apps/lessons" "$folder/"
python3 "$(dirname "$0")/run_lessons.py" "$folder/lessons" "$source/apps/lessons" "${@:2}" || wrong "the lessons"
for program in "$source"/apps/lessons/*/*.c; do
    mpicc -std=c99 -pedantic -Wall -Wextra -Werror -c "$program" -o "$folder/object" || wrong "a warning of $program"
done
finish
