#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# coll/ALGORITHMS.md equals the page that tutti-info generates from the list of algorithms.
set -u
build=$1 page=$(cd "$(dirname "$0")/../../.." && pwd)/coll/ALGORITHMS.md
made=$("$build/bin/tutti-info" --algorithms --markdown) || { echo "tutti-info exited with code $?"; exit 1; }
[ "$(grep -c '^| \[' <<< "$made")" -ge 28 ] || { echo "tutti-info lists fewer than 28 algorithms: $made"; exit 1; }
while read -r file; do
    [ -f "$(dirname "$page")/$file" ] || { echo "the page links to $file, which does not exist"; exit 1; }
done < <(grep -oE '\(algorithms/[a-z_/]+\.cpp\)' <<< "$made" | tr -d '()')
diff "$page" - <<< "$made" && exit 0
echo "coll/ALGORITHMS.md is not up to date: build/bin/tutti-info --algorithms --markdown > coll/ALGORITHMS.md"
exit 1
