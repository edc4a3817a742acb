#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The short form of the scheduling matrix: jobs in sessions and control groups of their own, beside other work, end with
# right data, and their counters keep the bounds of bounds.py. The kernel's session groups stay as they are.
# only: --all, its bounds are for ranks that do not share the cores with other tests
# cores: 64
. "$(dirname "$0")/../common.sh" "$1"
need_package g++ cc
is_sanitized && skip "counters under a sanitizer are not those of users"
"$here/run.sh" --short --build "$build" || wrong "the short form ended with $?"
what="run.sh --short"
expect_nothing_left
finish
