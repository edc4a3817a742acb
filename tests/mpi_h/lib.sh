# SPDX-License-Identifier: BSD-3-Clause
# Helpers for the shell tests of this folder: comparisons, and an installation that is moved after it is made. Tutti
# must work in the build tree and in that moved installation. Sourced with the build folder as argument.
# shellcheck shell=bash source=tests/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$1"
set -uo pipefail
work=$folder

# equal WHAT EXPECTED ACTUAL
equal() { [ "$2" = "$3" ] || wrong "$1: expected '$2' but got '$3'"; }
# has WHAT PART TEXT, lacks WHAT PART TEXT
has() { case $3 in *"$2"*) ;; *) wrong "$1: '$2' is not in '$3'" ;; esac; }
lacks() { case $3 in *"$2"*) wrong "$1: '$2' is in '$3'" ;; esac; }

# install_and_move NAME: installs Tutti, then moves the installation to a folder of this name, $moved.
install_and_move() {
    cmake --install "$build" --prefix "$work/first" >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
    moved=$work/$1
    mv "$work/first" "$moved"
}
