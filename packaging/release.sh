#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes all files of a release from the last commit: the source archive, the packages, the script that installs the wheel,
# the recipes for Spack and conda-forge, and SHA256SUMS.
. "$(dirname "$0")/common.sh"
help="Usage: packaging/release.sh [--check] [--url URL] [OUTPUT-FOLDER]
Makes the files of a release from the last commit, in an empty folder (default: dist). If CHANGELOG.md calls the version
unreleased, they have the version and the time of a snapshot.
  --url URL   the address of the folder in which the release will be; written into the recipes for Spack and conda-forge
  --check     makes them twice, in folders of other names, and fails if a byte differs"
check='' url=
while [ $# -gt 0 ]; do
    case $1 in
    --check) check=yes; shift ;;
    --url) [ $# -ge 2 ] || fail "--url needs an address" "$help"; url=${2%/}; shift 2 ;;
    *) break ;;
    esac
done
options "$help" "$@"
[ -n "$commit" ] || fail "makes the release of a commit, and $source is no git checkout"
[ -z "$(in_git status --porcelain)" ] || fail "the tree has changes that are not committed"
[ -z "$(ls -A "$output")" ] || fail "$output is not empty"
version+=${snapshot:+.dev$snapshot}

# make_files CHECKOUT FOLDER: makes the files in a folder, from a new checkout.
make_files() {
    local checkout=$1 name=tutti-$version.tar.xz recipe sum
    mkdir -p "$2" "$(dirname "$checkout")"
    git clone -q "$source" "$checkout"
    # The archive's times are those of the commit. One thread, because several would divide the archive into blocks.
    in_git archive --format=tar --prefix="tutti-$version/" HEAD | xz -T1 >"$2/$name"
    "$checkout/packaging/wheel.sh" "$2" >&2
    "$checkout/packaging/deb.sh" "$2" >&2
    rm "$2"/*.buildinfo "$2"/*.changes   # have the time of the build
    cp "$checkout/packaging/install.sh" "$2"
    sum=$(sha256sum "$2/$name")
    for recipe in package.py recipe.yaml; do
        sed "s|@VERSION@|$version|g; s|@URL@|${url:-https://example.org/tutti-$version}/$name|g; s|@SHA256@|${sum%% *}|g" \
            "$checkout/packaging/recipes/$recipe.in" >"$2/$recipe"
    done
    (cd "$2" && sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS .)
}
make_files "$scratch/tree" "$scratch/files"
if [ -n "$check" ]; then
    make_files "$scratch/a folder/with another name" "$scratch/again"
    diff -r "$scratch/files" "$scratch/again" || fail "two builds of the same commit differ"
    echo "Two builds of the same commit have the same bytes." >&2
fi
deliver "$scratch"/files/*
