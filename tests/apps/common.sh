# SPDX-License-Identifier: BSD-3-Clause
# Shared by the shell tests of the applications. Sourced with the build folder as its argument.
# shellcheck shell=bash source=tests/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$1"
set -u
bench() { "$mpiexec" -n "$1" "$build/bin/tutti-bench" "${@:2}"; }
