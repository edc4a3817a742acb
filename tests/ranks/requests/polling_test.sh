#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Without a word about it, ranks that are more than their cores give them away when they look in vain.
unset TUTTI_WAIT
one=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
exec taskset -c "$one" "$1/bin/mpiexec" -n 2 "$1/tests/ranks_requests_polling"
