#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# packaging/deb.sh makes the same bytes again in another folder, in another time zone, with another umask, and without
# a compiler cache.
# cores: 2
# only: --all, builds the packages twice
. "$(dirname "$0")/../common.sh" "$1"
is_sanitized && skip "covered by the plain build"
need_package debhelper dh
need_package help2man help2man
git -C "$source" rev-parse -q --verify HEAD >/dev/null || skip "this is no git checkout"
first=$build/tests/deb-first   # the same path each time: a compiler cache helps
rm -rf "$first"
"$source/packaging/deb.sh" "$first" >"$folder/out" 2>&1 || wrong "packaging/deb.sh: $(cat "$folder/out")"
(umask 077; CCACHE_DISABLE=1 TZ=Pacific/Auckland "$source/packaging/deb.sh" "$folder/second") \
    >"$folder/out" 2>&1 || wrong "packaging/deb.sh, again: $(cat "$folder/out")"
compared=0
# .buildinfo has the time of the build, and .changes the sum of .buildinfo.
for file in "$first"/*.{deb,dsc,tar.*}; do
    cmp "$file" "$folder/second/${file##*/}" || wrong "${file##*/} differs"
    compared=$((compared + 1))
done
rm -rf "$first"
[ "$compared" -ge 6 ] || wrong "compared only $compared files"
finish
