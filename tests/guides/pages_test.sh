#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Executes all blocks of README.md and guides/*.md, in a folder with the layout of the tree after its build. With
# --foreign, those that need further packages (foreign_pages_test.sh).
# cores: 1
. "$(dirname "$0")/../common.sh" "$1"
is_sanitized && skip "covered by the plain build"
mkdir "$folder/build"
ln -s "$build/bin" "$build/lib" "$build/include" "$folder/build/"
ln -s "$source/apps" "$folder/"
cd "$folder" || exit 1
unset TUTTI_COLL TUTTI_TOPOLOGY
export TUTTI_TUNING=none XDG_CACHE_HOME=$folder/cache
ulimit -c 0   # a report mentions a core file
for page in "$source"/README.md "$source"/guides/*.md; do
    echo "== ${page##*/}"
    python3 "$here/run_page.py" "$page" ${2:+"$2"} || wrong "${page##*/} differs from the actual output"
done
finish
