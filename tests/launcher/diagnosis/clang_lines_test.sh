#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Source lines of sleeping programs compiled by Clang.
. "$(dirname "$0")/source_lines.sh" "$1"
need_package clang clang

try "$outer" clang -g ring.c
try "$inner" clang -g -O2 -DINLINED ring.c
finish
