#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A small address-space limit makes the node's memory small: communicator creation fails with an error, not a crash.
. "$(dirname "$0")/../../common.sh" "$1"
is_sanitized && skip "sanitizers need more addresses than the limit allows"
ulimit -v 300000 || skip "the limit on addresses cannot be set"
"$build/bin/mpiexec" -n 2 -timeout 60 "$build/tests/ranks_comm_no_memory" 20000 full
