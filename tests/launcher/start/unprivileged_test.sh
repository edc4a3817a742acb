#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs of a user without privileges. If the tests run as such a user, all tests cover this.
. "$(dirname "$0")/circumstances.sh" "$1"
[ "$(id -u)" = 0 ] || skip "only root can start jobs as another user"
nobody() { (cd / && exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"); }
nobody test -x "$build/tests/ranks_launcher_mover" 2> /dev/null || skip "user 65534 cannot read the build folder"

programs=("${quick[@]}")
try 2 "as an unprivileged user" nobody
try 2 "as an unprivileged user without arenas" nobody env TUTTI_ARENA=no

what="mpiexec with few processes"
err=$(nobody prlimit --nproc=3 "$mpiexec" -n 16 sleep "$nap" 2>&1); code=$?; expect_code 1; expect_nothing_left
expect_err "another process cannot be started: Resource temporarily unavailable; ulimit -u prints the limit of this user's processes."
finish
