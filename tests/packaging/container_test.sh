#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs in containers that a user without permissions makes: a root file system that has only Tutti, a program, a shell
# and libraries, without network; without /dev/shm, with one of 64 MiB, and with half a core.
. "$(dirname "$0")/common.sh" "$1"
is_sanitized && skip "covered by the plain build"
make_open_folder
install_to "$open/tutti"
prefix=$open/tutti
"$prefix/bin/mpicc" "$sums" -o "$open/sums" || wrong "mpicc"
make_root "$open/root" "$prefix"/bin/{mpiexec,tutti-daemon,tutti-info} "$prefix"/lib/libmpi.so.12 "$prefix"/lib/libtutti_malloc.so \
    "$open/sums"
in_root "$open/root" true /bin/sh -c : 2>"$folder/err" || skip "no user namespaces can be made here: $(cat "$folder/err")"

prints "the root file system" "" in_root "$open/root" true /bin/sh -c 'for file in /usr/bin/* /dev/shm /home; do [ ! -e "$file" ] || echo "$file"; done'
try() {   # WHERE SHELL-COMMANDS
    prints "$1" "$(sums_of 4)" in_root "$open/root" "$2" "$prefix/bin/mpiexec" -n 4 "$open/sums"
}
try "without /dev/shm" true
# shellcheck disable=SC2016  # for the shell in the container
try "with 64 MiB of /dev/shm" 'mkdir "$root/dev/shm" && mount -t tmpfs -o size=64M tmpfs "$root/dev/shm"'
prints "tutti-info" "tutti-info of Tutti $version" in_root "$open/root" true "$prefix/bin/tutti-info" --version
in_root "$open/root" true "$prefix/bin/tutti-info" >"$folder/out" 2>"$folder/err" || wrong "tutti-info: $(cat "$folder/err")"

# Half a core, by a control group of version 2 or 1.
group=
limit_cpu() {
    local root=/sys/fs/cgroup
    if [ -e "$root/cgroup.controllers" ]; then
        group=$root/tutti-$$ && mkdir "$group" && echo "50000 100000" >"$group/cpu.max"
    else
        group=$root/cpu/tutti-$$ && mkdir "$group" && echo 100000 >"$group/cpu.cfs_period_us" && echo 50000 >"$group/cpu.cfs_quota_us"
    fi
}
if limit_cpu 2>"$folder/err"; then
    (echo "$BASHPID" >"$group/cgroup.procs" && try "with half a core" true && exit "$failures") || wrong "with half a core"
    wait_until rmdir "$group"
else
    echo "not tested with half a core, as no control group can be made: $(cat "$folder/err")"
fi
expect_nothing_left
finish
