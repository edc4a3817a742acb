#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The Debian packages of HEAD: lintian reports nothing, and on a minimal Debian they are installed, used, tested beside
# MPICH and Open MPI by their own autopkgtest, upgraded to the next version, and removed (on_minimal_debian.sh).
# cores: 2
# only: --all, builds two versions and a system
. "$(dirname "$0")/../common.sh" "$1"
is_sanitized && skip "covered by the plain build"
need_package debhelper dh
need_package help2man help2man
need_package lintian lintian
need_package debootstrap debootstrap
[ "$(id -u)" = 0 ] || skip "tests/fresh.sh needs root"
git -C "$source" rev-parse -q --verify HEAD >/dev/null || skip "this is no git checkout"

# make_packages TREE OUTPUT-FOLDER: builds both versions in the same folder, so that a compiler cache helps.
make_packages() {
    "$1/packaging/deb.sh" "$folder/built" >"$folder/out" 2>&1 || wrong "$1/packaging/deb.sh: $(cat "$folder/out")"
    mv "$folder/built" "$2"
}
mkdir "$folder/packages"
make_packages "$source" "$folder/packages/old"
for package in tutti libtutti; do
    dpkg-deb -c "$folder/packages/old/${package}"_*.deb >"$folder/out"
    [ "$(grep -c '/copyright\.\(libotf2-trace\|nlohmann-json3\)-dev' "$folder/out")" = 2 ] || wrong "$package lacks the licences of what its programs contain"
done
TMPDIR=$folder lintian --display-info --pedantic --fail-on error,warning,info,pedantic "$folder"/packages/old/*.changes \
    >"$folder/out" 2>&1 || wrong "lintian: $(cat "$folder/out")"

# The next version: the version of mpi.h and the first heading of CHANGELOG.md change, as CONTRIBUTING.md describes.
git clone -q --no-hardlinks "$source" "$folder/next"
version=$(sed -n 's/^#define TUTTI_VERSION *"\(.*\)"/\1/p' "$source/mpi_h/include/mpi.h")
next=99.0.1
sed -i -e "/^#define TUTTI_VERSION /s/\".*\"/\"$next\"/" -e '/^#define TUTTI_VERSION_MAJOR/s/[0-9]*$/99/' \
    -e '/^#define TUTTI_VERSION_MINOR/s/[0-9]*$/0/' -e '/^#define TUTTI_VERSION_PATCH/s/[0-9]*$/1/' \
    "$folder/next/mpi_h/include/mpi.h"
sed -i "0,/^## .*/s//## $next (2027-01-31)/" "$folder/next/CHANGELOG.md"
git -C "$folder/next" -c user.name=Test -c user.email=test@localhost commit -qam "mpi_h: raise the version"
make_packages "$folder/next" "$folder/packages/new"

"$source/tests/fresh.sh" --copy "$folder/packages" "tests/packaging/on_minimal_debian.sh $version $next" \
    >"$folder/out" 2>&1 || wrong "on a minimal Debian: $(cat "$folder/out")"
grep 'from a minimal system' "$folder/out"
finish
