#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# packaging/deb.sh makes the same bytes again for another user, in another folder, in another time zone, with another
# umask, with options of compilers in the environment, and without a compiler cache. It refuses a folder in which it
# could not.
# cores: 2
# only: --all, builds the packages twice
. "$(dirname "$0")/common.sh" "$1"
is_sanitized && skip "covered by the plain build"
need_package debhelper dh
need_package help2man help2man
git -C "$source" rev-parse -q --verify HEAD >/dev/null || skip "this is no git checkout"
make_open_folder
"$source/packaging/deb.sh" "$folder/first" >"$folder/out" 2>&1 || wrong "packaging/deb.sh: $(cat "$folder/out")"
git clone -q --no-hardlinks "$source" "$open/another tree"
mkdir "$open"/{temporary,second\ output}
[ "$(id -u)" != 0 ] || chown -R 65534:65534 "$open"/*
(umask 077; cd "$open"; export HOME=$open TMPDIR=$open/temporary CCACHE_DISABLE=1 TZ=Pacific/Auckland CXXFLAGS=-O0
    "${as_nobody[@]}" "another tree/packaging/deb.sh" "second output") >"$folder/out" 2>&1 ||
    wrong "packaging/deb.sh, again: $(cat "$folder/out")"
compared=0
# .buildinfo has the time of the build, and .changes the sum of .buildinfo.
for file in "$folder"/first/*.{deb,dsc,tar.*}; do
    cmp "$file" "$open/second output/${file##*/}" || wrong "${file##*/} differs"
    compared=$((compared + 1))
done
[ "$compared" -ge 6 ] || wrong "compared only $compared files"
TMPDIR="$open/second output" "$source/packaging/deb.sh" "$open/second output" 2>"$folder/err" && wrong "deb.sh accepted a folder with a blank"
grep -q "choose one of plain letters, by TMPDIR" "$folder/err" || wrong "a folder with a blank: $(cat "$folder/err")"
finish
