#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# packaging/release.sh makes the archive, the sums and the recipes, calls the scripts of the packages, compares two builds,
# and refuses trees that are no commit. The scripts of the packages, which have tests of their own, are replaced by
# short ones.
. "$(dirname "$0")/common.sh" "$1"
git -C "$source" rev-parse -q --verify HEAD >/dev/null || skip "this is no git checkout"
tree=$folder/tree
git clone -q --no-hardlinks "$source" "$tree"
commit() { git -C "$tree" -c user.name=Test -c user.email=test@localhost commit -qam "$1"; }
replace() {   # what the scripts write
    printf '#!/bin/sh\nmkdir -p "$1" && %s >"$1/tutti-%s.whl"\n' "$1" "$version" >"$tree/packaging/wheel.sh"
    # shellcheck disable=SC2016  # for that script
    printf '#!/bin/sh\nfor kind in deb dsc buildinfo changes; do echo package >"$1/tutti_1.$kind"; done\n' >"$tree/packaging/deb.sh"
    commit "packaging: replace the scripts"
}
refuses() {   # REASON COMMAND...
    "${@:2}" >"$folder/out" 2>"$folder/err" && wrong "'${*:2}' did not fail"
    grep -qF -- "$1" "$folder/err" && [ "$(wc -l <"$folder/err")" -le 12 ] || wrong "'${*:2}' printed: $(cat "$folder/err")"
}

replace "echo wheel"
snapshot=$(TZ=UTC date -d "@$(git -C "$tree" log -1 --format=%ct)" +%Y%m%d%H%M%S)
grep -m 1 '^## ' "$tree/CHANGELOG.md" | grep -q '(unreleased)' && name=tutti-$version.dev$snapshot || name=tutti-$version
(umask 077; TZ=Pacific/Auckland XZ_OPT=-0 "$tree/packaging/release.sh" --check --url https://example.net/files/ "$folder/release") \
    >"$folder/out" 2>"$folder/err" || wrong "release.sh: $(cat "$folder/err")"
grep -qx "Two builds of the same commit have the same bytes." "$folder/err" || wrong "--check printed $(cat "$folder/err")"
equal_files() { [ "$(cd "$folder/release" && echo *)" = "$1" ] || wrong "the release has $(ls "$folder/release")"; }
equal_files "SHA256SUMS install.sh package.py recipe.yaml $name.tar.xz tutti-$version.whl tutti_1.deb tutti_1.dsc"
(cd "$folder/release" && sha256sum --quiet -c SHA256SUMS && [ "$(wc -l <SHA256SUMS)" = 7 ]) || wrong "SHA256SUMS: $(cat "$folder/release/SHA256SUMS")"
sum=$(sha256sum "$folder/release/$name.tar.xz")
for recipe in package.py recipe.yaml; do
    grep -qF "https://example.net/files/$name.tar.xz" "$folder/release/$recipe" && grep -qF "${sum%% *}" "$folder/release/$recipe" ||
        wrong "$recipe has another address or sum"
done
tar -tJf "$folder/release/$name.tar.xz" | grep -qx "$name/mpi_h/include/mpi.h" || wrong "the archive lacks mpi.h"
tar -tvJf "$folder/release/$name.tar.xz" | awk '!/^(-rw-r--r--|-rwxr-xr-x|drwxr-xr-x|lrwxrwxrwx) root\/root /' | grep . && wrong "modes of the archive"

refuses "is not empty" "$tree/packaging/release.sh" "$folder/release"
refuses "unknown option --nothing" "$tree/packaging/release.sh" --nothing
refuses "--url needs an address" "$tree/packaging/release.sh" --url
: >"$tree/new"
refuses "changes that are not committed" "$tree/packaging/release.sh" "$folder/refused"
rm "$tree/new"
# A time in the files, and a failure of a script.
replace "date +%N"
refuses "two builds of the same commit differ" "$tree/packaging/release.sh" --check "$folder/refused"
replace "echo 'no compiler' >&2; exit 3; echo"
refuses "no compiler" "$tree/packaging/release.sh" "$folder/refused"
[ -z "$(ls "$folder/refused")" ] || wrong "left after a failure: $(ls "$folder/refused")"
# An archive inside of a checkout, and a checkout that git does not read.
mkdir "$tree/inner"
tar -xJf "$folder/release/$name.tar.xz" -C "$tree/inner"
refuses "is no git checkout" "$tree/inner/$name/packaging/release.sh" "$folder/refused"
mv "$tree/.git" "$tree/inner/$name/.git"
echo nothing >"$tree/inner/$name/.git/HEAD"
refuses "git cannot read" "$tree/inner/$name/packaging/release.sh" "$folder/refused"
expect_nothing_left
finish
