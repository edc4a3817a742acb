#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Debian source and binary packages of the commit HEAD.
. "$(dirname "$0")/common.sh"
options "Usage: packaging/deb.sh [OUTPUT-FOLDER]
Builds Debian's source and binary packages of the commit HEAD (default folder: dist) and removes those of an earlier build
from the output folder. The same commit and packages give the same bytes, in any folder." "$@"
[ -n "$commit" ] || fail "builds the packages of a commit, and $source is no git checkout"
[ -z "$(in_git status --porcelain)" ] || echo "Changes that are not committed are left out." >&2
if ! { dpkg-checkbuilddeps "$source/packaging/debian/control" && command -v dpkg-buildpackage; } >/dev/null 2>&1; then
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
        fail "packages are missing. Install sudo, or run as root: apt-get build-dep $source/packaging"
    echo "Installing the packages that debian/control lists ..." >&2
    run_apt_get update >&2 || echo "apt-get update failed; trying with the existing package lists." >&2
    run_apt_get build-dep -y "$source/packaging" >&2 || fail "packages are missing"
fi
# The build is in the output folder, so that its path is the same each time, as a compiler cache needs. dpkg-buildflags
# leaves out the option that hides this path if it has other characters.
is_plain() { [[ $1 =~ ^[-+:.0-9a-zA-Z~/_]+$ ]]; }
work=$output/work
is_plain "$work" || work=$scratch/work
is_plain "$work" || fail "the files would depend on the names of $output and of the temporary folder, ${scratch%/*}; choose one of plain letters, by TMPDIR"
exec {lock}<"$output"
flock "$lock"   # waits for another packaging/deb.sh with the same output folder
rm -rf "$work"
mkdir "$work"
trap 'rm -rf "$scratch" "$work"' EXIT

# A snapshot has the version ~gitTIME.COMMIT, so that the release is newer. A package in Debian itself would have the
# revision 1, which is newer than 0tutti1.
suite=unstable
if [ -n "$snapshot" ]; then
    suite=UNRELEASED
    version+=~git$snapshot.${commit:0:8}
fi
package=$version-0tutti1
in_git archive --prefix=tutti/ HEAD | tar -x -C "$work"
cd "$work/tutti"
cp -r packaging/debian debian
cat >debian/changelog <<END
tutti ($package) $suite; urgency=medium

  * Built from commit $commit.
    The changes are in changelog.gz beside this file, which is CHANGELOG.md
    of the sources.

 -- $(sed -n 's/^Maintainer: //p' debian/control)  $(date -R -d "@$SOURCE_DATE_EPOCH")
END
in_git archive --prefix="tutti-$version/" HEAD | gzip -n -9 >"../tutti_$version.orig.tar.gz"

# debhelper gives the build a home folder of its own, in which a compiler cache would find nothing.
! command -v ccache >/dev/null || export CCACHE_DIR="${CCACHE_DIR:-$(ccache --get-config cache_dir)}"
DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS-parallel=$(default_jobs)} \
    dpkg-buildpackage --no-sign --build=full >"$scratch/log" 2>&1 || fail "the build failed:" "$(tail -n 40 "$scratch/log")"
rm -f "$output"/{tutti,libtutti,libtutti-dev}{,-dbgsym}_*
deliver "$work"/*tutti*_*
