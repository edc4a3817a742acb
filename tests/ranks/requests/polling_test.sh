#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Without a wait setting, ranks that share one core yield it when they poll without success.
unset TUTTI_WAIT
one=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
exec taskset -c "$one" "$1/bin/mpiexec" -n 2 "$1/tests/ranks_requests_polling"
