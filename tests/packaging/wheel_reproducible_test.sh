#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# packaging/wheel.sh makes the same bytes again in a checkout of another name and modes, in another time zone, with
# options of compilers in the environment, and without a compiler cache.
# cores: 2
# only: --all, compiles everything twice
. "$(dirname "$0")/../common.sh" "$1"
is_sanitized && skip "covered by the plain build"
need_package python3-build "/usr/lib/python3/dist-packages/build/__main__.py"
need_package python3-wheel "/usr/lib/python3/dist-packages/wheel/__main__.py"
need_package advancecomp advzip
need_package python3-setuptools "/usr/lib/python3/dist-packages/setuptools/__init__.py"
git -C "$source" rev-parse -q --verify HEAD >/dev/null || skip "this is no git checkout"
"$source/packaging/wheel.sh" "$folder/first" >"$folder/out" 2>&1 || wrong "packaging/wheel.sh: $(cat "$folder/out")"
(umask 077; git clone -q "$source" "$folder/another tree")
(umask 077; CCACHE_DISABLE=1 TZ=Pacific/Auckland CXXFLAGS=-O0 "$folder/another tree/packaging/wheel.sh" "$folder/second") \
    >"$folder/out" 2>&1 || wrong "packaging/wheel.sh, again: $(cat "$folder/out")"
diff -r "$folder/first" "$folder/second" || wrong "the wheels differ"
[ "$(find "$folder/second" -name '*.whl' | wc -l)" = 1 ] || wrong "there is no wheel"
finish
