#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The pages for users, done word by word in a folder that looks like the tree after its build.
set -u
build=$(cd "$1" && pwd) source=$(cd "$(dirname "$0")/../.." && pwd)
grep -q '^TUTTI_SANITIZE:STRING=.' "$build/CMakeCache.txt" && { echo "the plain build does it"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/build"
ln -s "$build/bin" "$build/lib" "$build/include" "$folder/build/"
ln -s "$source/apps" "$folder/"
cd "$folder" || exit 1
unset TUTTI_COLL TUTTI_TOPOLOGY
export TUTTI_TUNING=none
for page in "$source"/guides/*.md; do
    echo "== ${page##*/}"
    python3 "$source/tests/guides/run_page.py" "$page" true 2 || exit 1
done
