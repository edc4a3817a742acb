#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# With a small limit on addresses the node's memory is small too: communicators run out of it, in good order.
build=$1
if grep -q '^TUTTI_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then
    echo "sanitizers need more addresses than the limit allows"
    exit 77
fi
ulimit -v 300000 || exit 77
exec "$build/bin/mpiexec" -n 2 -timeout 60 "$build/tests/ranks_comm_no_memory" 20000 full
