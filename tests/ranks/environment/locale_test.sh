#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the program of locale.cpp without a launcher.
. "$(dirname "$0")/../../common.sh" "$1"
for separator in . , " "; do
    what="a program that groups digits by '$separator'"
    out=$("$build/tests/ranks_environment_locale" "$separator" 2>"$folder/err"); code=$? err=$(cat "$folder/err")
    expect_code 0; expect_out ""; expect_silence
done
finish
