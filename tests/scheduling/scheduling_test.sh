#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The short form of the scheduling matrix: jobs in separate sessions and control groups, beside other work, end with
# correct data, and their counters satisfy the bounds of bounds.py. The setting of the kernel's session groups is not
# changed.
# only: --all, its bounds hold if ranks do not share cores with other tests
# cores: 64
. "$(dirname "$0")/../common.sh" "$1"
need_package g++ cc
is_sanitized && skip "counters under a sanitizer are not those of users"
"$here/run.sh" --short --build "$build" || wrong "the short form ended with $?"
what="run.sh --short"
expect_nothing_left
finish
