#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Debian source and binary packages of the commit HEAD.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

usage() {
    cat <<'END'
Usage: packaging/deb.sh [OUTPUT-FOLDER]
Builds Debian's source and binary packages of the commit HEAD and puts them into OUTPUT-FOLDER (default: build/deb),
which is created if it does not exist. Needs no root. The same commit gives the same bytes in any folder.
  apt-get build-dep ./packaging installs what the build needs
END
}
case ${1:-} in
-h | --help) usage; exit 0 ;;
-*) echo "packaging/deb.sh: there is no option $1" >&2; usage >&2; exit 2 ;;
esac
[ $# -le 1 ] || { usage >&2; exit 2; }
fail() { echo "packaging/deb.sh: $*" >&2; exit 1; }
command -v dpkg-buildpackage >/dev/null || fail "install the packages 'build' and 'deb' of tests/packages"
tree=$(git -C "$here" rev-parse --show-toplevel)
git -C "$tree" diff --quiet HEAD || echo "Changes that are not committed are left out."
output=${1:-$tree/build/deb}
mkdir -p "$output"
output=$(cd "$output" && pwd)
scratch=$output/work   # the same path each time: compiler caches distinguish commands that name others
exec {lock}<"$output"
flock "$lock"   # waits for another packaging/deb.sh with the same output folder
rm -rf "$scratch"
mkdir "$scratch"
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP
umask 022
export LC_ALL=C.UTF-8
SOURCE_DATE_EPOCH=$(git -C "$tree" log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# The version is that of mpi.h. An unreleased one becomes ~gitTIME.COMMIT, so that the release is newer.
git -C "$tree" archive --prefix=tutti/ HEAD | tar -x -C "$scratch"
cd "$scratch/tutti"
version=$(sed -n 's/^#define TUTTI_VERSION *"\(.*\)"/\1/p' mpi_h/include/mpi.h)
heading=$(grep -m 1 '^## ' CHANGELOG.md)
[[ $heading == "## $version ("*")" ]] || fail "mpi.h has version '$version', CHANGELOG.md begins with '$heading'"
suite=unstable
if [[ $heading == *"(unreleased)" ]]; then
    suite=UNRELEASED
    version+=~git$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S).$(git -C "$tree" rev-parse --short=8 HEAD)
fi
# A package in Debian itself would have the revision 1, which is newer than 0tutti1.
package=$version-0tutti1
cp -r packaging/debian debian
cat >debian/changelog <<END
tutti ($package) $suite; urgency=medium

  * Built from commit $(git -C "$tree" rev-parse HEAD).
    The changes are in changelog.gz beside this file, which is CHANGELOG.md
    of the sources.

 -- $(sed -n 's/^Maintainer: //p' debian/control)  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
git -C "$tree" archive --prefix="tutti-$version/" HEAD | gzip -n -9 >"../tutti_$version.orig.tar.gz"

# debhelper gives the build a home folder of its own, in which a compiler cache would find nothing.
! command -v ccache >/dev/null || export CCACHE_DIR="${CCACHE_DIR:-$(ccache --get-config cache_dir)}"
DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS-parallel=$(nproc)} \
    dpkg-buildpackage --no-sign --build=full >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log" >&2; exit 1; }
rm -rf "$scratch/tutti"
mv "$scratch"/*tutti*_* "$output"
cd "$output"
sed -n '/^Files:/,$s/.* //p' "tutti_${package}_"*.changes
