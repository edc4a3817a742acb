#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks that every C++ file has the layout of .clang-format. Prints each line that differs.
# cores: 1
. "$(dirname "$0")/common.sh" "$1"
need_package clang-format clang-format
# Other versions of clang-format format some lines differently.
clang-format --version | grep -q ' version 14\.' || skip "clang-format is not version 14"
cd "$source" || exit 1
find apps coll launcher mpi_h p2p rma runtime tests topo \( -name '*.cpp' -o -name '*.hpp' \) -print0 |
    xargs -0 -P "$(nproc)" -n 64 clang-format --dry-run --Werror 2>&1 | grep 'error:' && wrong "the lines above"
finish
