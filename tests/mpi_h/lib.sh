# SPDX-License-Identifier: BSD-3-Clause
# Shared by the bash tests of this folder: a scratch folder, checks that count failures, and the places where Tutti
# must work: the build tree, and an installation that was moved afterwards.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
# equal WHAT EXPECTED ACTUAL
equal() { [ "$2" = "$3" ] || fail "$1: expected '$2' but got '$3'"; }
# has WHAT PART TEXT, lacks WHAT PART TEXT
has() { case $3 in *"$2"*) ;; *) fail "$1: '$2' is not in '$3'" ;; esac; }
lacks() { case $3 in *"$2"*) fail "$1: '$2' is in '$3'" ;; esac; }

# install_and_move NAME: to $moved, a folder of that name.
install_and_move() {
    cmake --install "$build" --prefix "$work/first" >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
    moved=$work/$1
    mv "$work/first" "$moved"
}
finish() {
    [ "$failures" -eq 0 ] || { echo "$failures checks failed"; exit 1; }
}
