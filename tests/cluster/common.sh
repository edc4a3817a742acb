# SPDX-License-Identifier: BSD-3-Clause
# For the tests on several hosts: how they start jobs, and how they say what went wrong. Sourced with the build folder.
# shellcheck shell=bash
build=$(cd "$1" && pwd)
mpiexec=$build/bin/mpiexec
failures=0
# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"

wrong() { echo "WRONG: $*"; failures=$((failures + 1)); }
expect_same() { [ "$1" = "$2" ] || wrong "'$1' instead of '$2'"; }
skip_if_pretended() {
    [ -z "$pretended" ] && return
    echo "Skipped: this needs network namespaces."
    exit 77
}
finish() { [ "$failures" = 0 ] && echo "all well" || { echo "$failures wrong"; exit 1; }; }
