#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs with a small, unwritable or missing /dev/shm, and without a network.
. "$(dirname "$0")/circumstances.sh" "$1"

# in_namespace COMMANDS PROGRAM...: runs a program in new namespaces, after shell commands; a user is root in them.
flags=(--mount --net)
[ "$(id -u)" = 0 ] || flags+=(--map-root-user)
in_namespace() { unshare "${flags[@]}" sh -c "$1 && shift && exec \"\$@\"" sh "$@"; }
in_namespace true true 2> /dev/null || skip "no mount and network namespaces can be made here"

programs=("${quick[@]}" "ranks_launcher_chatter 0.1")
[ "$(in_namespace true cat /proc/net/dev | grep -c :)" = 1 ] || wrong "the namespace has a network"
try 3 "without a network" in_namespace true
try 2 "with a small /dev/shm" in_namespace "mount -t tmpfs -o size=64k none /dev/shm"
try 3 "with a /dev/shm that cannot be written" in_namespace "mount -t tmpfs -o ro none /dev/shm"
touch "$folder/null" "$folder/urandom"
no_shm="for file in null urandom; do mount --bind /dev/\$file '$folder'/\$file || exit; done; mount -t tmpfs none /dev
    for file in null urandom; do touch /dev/\$file; mount --bind '$folder'/\$file /dev/\$file || exit; done; [ ! -e /dev/shm ]"
try 2 "without /dev/shm" in_namespace "$no_shm"
in_namespace "$no_shm" "$mpiexec" -n 2 "$rank" init finalise || wrong "a job without MPI needs /dev/shm"
finish
