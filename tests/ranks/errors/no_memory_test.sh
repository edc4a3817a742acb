#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Without memory for an error message, the job ends with a shorter one, never with a C++ exception. The trace and the
# checks of a call have no memory either.
. "$(dirname "$0")/../../common.sh" "$1"
is_sanitized && skip "sanitizers have an operator new of their own"
program=$build/tests/ranks_errors_no_memory
run -n 1 "$program" fatal; expect_code 34; expect_err "no memory"   # nor for the error message
[[ $err != *terminate* ]] || wrong "an exception left a call: $err"
run -n 1 "$program" first; expect_err "no memory"
[ "$code" != 0 ] || wrong "MPI began without memory"
[[ $err != *terminate* ]] || wrong "an exception left a call: $err"
run -n 2 --trace "$folder/trace.json" "$program"; expect_code 0
run -n 2 --check "$program"; expect_code 0
finish
