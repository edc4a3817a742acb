#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Run by deb_test.sh on a minimal Debian, in a clone of the sources, as root: installs the Debian packages of
# /packages/old, uses and tests them, upgrades to those of /packages/new, and purges them.
# on_minimal_debian.sh OLD-VERSION NEW-VERSION
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
fail() { echo "WRONG: $*" >&2; exit 1; }
apt_get() { apt-get -qq -y "$@" >/tmp/log 2>&1 || fail "apt-get $*: $(cat /tmp/log)"; }
# runs PROGRAM VERSION: four ranks add up their numbers with the library of this version.
runs() {
    [ "$(mpiexec.tutti -n 4 "$1" | grep -c ' of 4 on .* add up to 6$')" = 4 ] || fail "mpiexec.tutti -n 4 $1"
    [ "$(mpiexec.tutti --version)" = "mpiexec of Tutti $2" ] || fail "mpiexec.tutti --version is not $2"
}

apt_get update
old=(/packages/old/{tutti,libtutti,libtutti-dev}_*.deb)
new=(/packages/new/{tutti,libtutti,libtutti-dev}_*.deb)
apt_get install --download-only "${old[@]}"
began=$SECONDS
apt_get install "${old[@]}"
mpicc.tutti apps/hello.c -o /tmp/hello
runs /tmp/hello "$1"
echo "$((SECONDS - began)) s from a minimal system to a verified run"
mpicc apps/hello.c -o /tmp/hello-alternative
[ "$(mpiexec -n 2 /tmp/hello-alternative | wc -l)" = 2 ] || fail "the alternatives, without another MPI"

# Beside MPICH and Open MPI, and their documentation; then the packages' own tests.
apt_get install --no-install-recommends autopkgtest libmpich-dev libopenmpi-dev mpich mpich-doc openmpi-bin
# autopkgtest ends with 2 if it skips a test; the one that loads mpi4py from the network is skipped without it.
autopkgtest -B /packages/old/*.dsc -- null >/tmp/log 2>&1 || [ $? = 2 ] || fail "autopkgtest: $(cat /tmp/log)"
grep -E ' +(PASS|SKIP|FAIL)' /tmp/log

apt_get install "${new[@]}"
runs /tmp/hello "$2"

apt_get purge 'tutti' 'libtutti*'
left=$(find / -xdev \( -path /proc -o -path /packages -o -path /root -o -path /tmp -o -path /var/cache -o -path /var/log \) \
    -prune -o -iname '*tutti*' -print)
[ -z "$left" ] || fail "left behind: $left"
! grep -rl tutti /var/lib/dpkg/alternatives /etc || fail "left behind, see above"
! find -L /etc/alternatives -type l | grep . || fail "links without a target, see above"
mpicc apps/hello.c -o /tmp/hello-openmpi && ldd /tmp/hello-openmpi | grep -q 'libmpi.so.40 => /' || fail "Open MPI's mpicc"
echo "all well on a minimal Debian"
